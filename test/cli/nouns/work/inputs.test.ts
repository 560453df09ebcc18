// What the commands about questions and insights send, and how they show the replies.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory, type Received, refuse, run, startFakeDaemon } from '../../outside.ts';

const ID = '0190f6a0-0000-7000-8000-000000000001';
const SESSION = '0190f6a0-0000-7000-8000-000000000002';
const AT = '2026-03-01T12:00:00.000Z';
const LATER = '2026-03-02T12:00:00.000Z';

const QUESTION = {
  request_id: ID,
  session_id: SESSION,
  run_id: ID,
  user_id: ID,
  username: 'mara',
  tool_use_id: 'ask1',
  tool_name: 'ask_user',
  tool_input: { question: 'Which\u001b[31m colour?', options: ['red', 'blue'], multiple: true },
  status: 'pending',
  answers: null,
  created_at: AT,
  expires_at: LATER,
  answered_at: null,
};
const INSIGHT = {
  insight_id: ID,
  session_id: SESSION,
  run_id: ID,
  user_id: ID,
  username: 'mara',
  title: 'Salt',
  summary: 'It rusts.',
  priority: 'urgent',
  status: 'new',
  created_at: AT,
  updated_at: AT,
};

const answered = ({ body }: Received) => ({
  ...QUESTION,
  status: 'answered',
  answers: (body as { answers: unknown }).answers,
  answered_at: AT,
});
const daemon = () =>
  startFakeDaemon({
    [`GET /api/v1/user-inputs/${ID}`]: () => QUESTION,
    [`POST /api/v1/user-inputs/${ID}/answer`]: answered,
    [`POST /api/v1/user-inputs/${ID}/expire`]: () => ({ ...QUESTION, status: 'expired' }),
  });

test('questions are listed with their filters, their text safe for a terminal', async () => {
  const { dataDir } = await startFakeDaemon({
    [`GET /api/v1/user-inputs?session_id=${SESSION}&status=pending&limit=1`]: () => ({ items: [QUESTION], total: 3 }),
  });
  const args = ['inputs', 'list', '--status', 'pending', '--session', SESSION, '--limit', '1'];
  const shown = await run(args, { dataDir, terminal: { stdout: true } });
  expect(shown).toMatchObject({ code: 0, stderr: '1 of 3 questions.\n' });
  expect(shown.stdout).toContain('Which colour?');
  expect(shown.stdout).not.toContain('\u001b[31m colour');
  const json = await run([...args, '-o', 'json'], { dataDir });
  expect(JSON.parse(json.stdout)).toEqual({ items: [QUESTION], total: 3 });
});

test('one question shows what is asked, the options and until when', async () => {
  const { dataDir } = await daemon();
  const { stdout } = await run(['inputs', 'show', ID], { dataDir });
  const fields = new Map(stdout.split('\n').map((line) => line.split('\t') as [string, string]));
  expect(fields.get('question')).toContain('colour?');
  expect(fields.get('options')).toBe('1. red; 2. blue');
  expect([fields.get('multiple'), fields.get('expires_at'), fields.get('status')]).toEqual(['true', LATER, 'pending']);
});

test('an answer is a text, or JSON from a file or standard input', { tags: ['K7-observing'] }, async () => {
  const file = path.join(makeDirectory(), 'answer.json');
  writeFileSync(file, '{"colour": ["red", "blue"]}\n');
  const { dataDir, received } = await daemon();
  const answer = (...args: string[]) => run(['inputs', 'answer', ID, ...args], { dataDir, stdin: '["red"]\n' });
  expect(await answer('the red one')).toMatchObject({ code: 0, stdout: expect.stringContaining('the red one') });
  expect(await answer('-')).toMatchObject({ code: 0 });
  expect(await answer('--json', '-')).toMatchObject({ code: 0 });
  expect(await answer('--json', file)).toMatchObject({ code: 0 });
  expect(received.map(({ body }) => body)).toEqual([
    { answers: 'the red one' },
    { answers: '["red"]' },
    { answers: ['red'] },
    { answers: { colour: ['red', 'blue'] } },
  ]);
});

test.each([
  [['inputs', 'answer', ID], /TEXT or with --json/],
  [['inputs', 'answer', ID, 'red', '--json', '-'], /TEXT or with --json/],
  [['inputs', 'answer', ID, '  '], /empty/],
  [['inputs', 'answer', ID, '--json', '-'], /not JSON/],
  [['inputs', 'answer', ID, '--json', '/nowhere/at/all'], /cannot be read/],
  [['inputs', 'answer', 'x', 'red'], /first 4 characters/],
  [['inputs', 'list', '--status', 'odd'], /invalid/],
  [['inputs', 'expire', ID], /--yes/],
  [['insights', 'set', ID, 'new'], /invalid/],
  [['insights', 'set', ID], /missing/],
])('%j is a usage error that says why, and settles nothing', async (args, says) => {
  const { dataDir, received } = await daemon();
  const ended = await run(args, { dataDir, stdin: '{"half": ' });
  expect([ended.code, received.filter(({ method }) => method !== 'GET')]).toEqual([2, []]);
  expect(ended.stderr).toMatch(says);
});

test('the wait for an answer is ended only after a yes', async () => {
  const { dataDir, received } = await daemon();
  const terminal = { stdin: true, stderr: true };
  const no = await run(['inputs', 'expire', ID], { dataDir, terminal, stdin: 'n\n' });
  expect([no.code, received.length]).toEqual([1, 1]);
  expect(no.stderr).toContain("mara's agent");
  expect((await run(['inputs', 'expire', ID, '--yes'], { dataDir })).stdout).toContain('expired');
});

test('a question that is settled already is a conflict', async () => {
  const { dataDir } = await startFakeDaemon({
    [`POST /api/v1/user-inputs/${ID}/answer`]: (_received, response) =>
      refuse(response, 409, 'The question is answered already.'),
  });
  const ended = await run(['inputs', 'answer', ID, 'red'], { dataDir });
  expect(ended).toMatchObject({ code: 6, stderr: expect.stringContaining('answered already') });
});

test('insights are listed, shown and moved on', { tags: ['K7-observing'] }, async () => {
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/insights?status=new': () => ({ items: [INSIGHT], total: 1 }),
    [`GET /api/v1/insights/${ID}`]: () => INSIGHT,
    [`PATCH /api/v1/insights/${ID}`]: () => ({ ...INSIGHT, status: 'resolved' }),
  });
  const listed = await run(['insights', 'list', '--status', 'new'], { dataDir });
  expect(listed.stdout).toBe(`${[ID, 'new', 'urgent', 'mara', AT, 'Salt'].join('\t')}\n`);
  expect((await run(['insights', 'show', ID], { dataDir })).stdout).toContain('It rusts.');
  expect((await run(['insights', 'set', ID, 'resolved'], { dataDir })).stdout).toContain('resolved');
  expect(received.at(-1)!.body).toEqual({ status: 'resolved' });
});
