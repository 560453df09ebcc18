// `errand runs export`: the conversation in the form of model servers, and how much of it each step was asked with.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderTimeline } from '../../../../src/http/sessions/timeline-wire.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { anExplanation } from '../../../support/store/timelines.ts';
import { run, startFakeDaemon } from '../../outside.ts';

const EXPLAINED = renderTimeline(anExplanation());
const { run_id: ID, session_id: SESSION } = EXPLAINED.run;
const KEY = 'errand_abcd1234_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg';
const user = (text: string) => ({
  id: 1,
  role: 'user',
  content: { _type: 'UserMessage', content: [{ type: 'text', text }] },
  attachments: [],
});
const agent = (...content: object[]) => ({
  id: 2,
  role: 'assistant',
  content: { _type: 'AssistantMessage', content },
  attachments: [],
});
const use = (id: string) => ({ type: 'tool_use', id, name: 'shell', input: { command: 'date' } });
const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, is_error: false, content });
const said = (text: string) => ({ type: 'text', text });

const MESSAGES = [
  user('First.'),
  agent(said('One.')),
  user('Second.'),
  agent(said('I look.'), use('a'), use('b'), result('a', `token ${KEY}`), result('b', '2'), use('c'), result('c', '3')),
  user('Third.'),
];

const startWithRun = () =>
  startFakeDaemon({
    [`GET /api/v1/runs/${ID}/timeline`]: () => EXPLAINED,
    [`GET /api/v1/sessions/${SESSION}/messages`]: () => ({ session_id: SESSION, messages: MESSAGES }),
    [`GET /api/v1/runs?session=${SESSION}&limit=500`]: () => ({
      items: [{ run_id: 'newer' }, { run_id: ID }, { run_id: 'older' }],
      total: 3,
    }),
    'GET /api/v1/keys/key00001': () => ({ target: 'expert:tides' }),
    'GET /api/v1/experts/tides': () => ({ name: 'tides', instructions: 'You know tides.' }),
    'GET /api/v1/status': () => ({ models: [{ name: 'qwen', endpoint: 'local', kind: 'openai', default: true }] }),
  });

test('each step is asked with what came before its reply, and no secret is written', async () => {
  const { dataDir } = await startWithRun();
  const to = join(temporaryDirectory(), 'run.json');
  const ended = await run(['runs', 'export', ID, '--to', to], { dataDir });
  expect(ended.code).toBe(0);
  const text = readFileSync(to, 'utf8');
  const document = JSON.parse(text);
  expect(document.system).toBe('You know tides.');
  expect(document.model).toMatchObject({ endpoint: 'local' });
  expect(document.conversation.map(({ role }: { role: string }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'tool',
    'tool',
    'assistant',
    'tool',
  ]);
  expect(document.requests.map(({ messages }: { messages: number }) => messages)).toEqual([3, 6]);
  expect(document.requests[0]).toMatchObject({ step: 1, model: 'qwen', first_token_ms: 12_300 });
  expect(document.conversation[3]).toMatchObject({ content: 'I look.', tool_calls: [{ id: 'a' }, { id: 'b' }] });
  expect(text).not.toContain(KEY);
  expect(text).not.toContain('Third.');
  expect(statSync(to).mode & 0o777).toBe(0o600);
});

test('standard output gets the document alone, and a file is never written over', async () => {
  const { dataDir } = await startWithRun();
  const piped = await run(['runs', 'export', ID, '--to', '-'], { dataDir });
  expect(JSON.parse(piped.stdout)).toMatchObject({ format: 'errand-run-export', version: 1, complete: true });
  const to = join(temporaryDirectory(), 'run.json');
  await run(['runs', 'export', ID, '--to', to], { dataDir });
  expect(await run(['runs', 'export', ID, '--to', to], { dataDir })).toMatchObject({ code: 6 });
});
