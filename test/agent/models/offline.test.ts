// The offline engine takes the whole path of a turn: files, a listing, an honest answer.
import { expect, test } from 'vitest';
import type { Brief, RecordedStep } from '../../../src/agent/port/protocol.ts';
import type { ExecutedTool } from '../../../src/agent/port/tool.ts';
import { GRANT, makeBrief, startRun } from '../play-main.ts';

const OFFLINE = { ...GRANT, kind: 'offline' as const, baseUrl: '', apiKey: null };

function makeFileTools(): {
  tools: readonly [ExecutedTool, ExecutedTool];
  written: Map<string, string>;
  listed: () => number;
} {
  const written = new Map<string, string>();
  let listings = 0;
  const writeFile: ExecutedTool = {
    kind: 'executes',
    name: 'write_file',
    description: 'Writes.',
    inputSchema: { type: 'object', required: ['path', 'content'] },
    execute: ({ path, content }) => {
      written.set(path as string, content as string);
      return Promise.resolve({ ok: true, output: 'Written.' });
    },
  };
  const listFiles: ExecutedTool = {
    kind: 'executes',
    name: 'list_files',
    description: 'Lists.',
    inputSchema: { type: 'object' },
    execute: () => {
      listings += 1;
      return Promise.resolve({ ok: true, output: [...written.keys()].join('\n') });
    },
  };
  return { tools: [writeFile, listFiles], written, listed: () => listings };
}

function offlineBrief(text: string, changes: Partial<Brief> = {}): Promise<Brief> {
  const turn = { user: [{ type: 'text' as const, text }], attachments: [], steps: [] };
  return makeBrief({ model: OFFLINE, turn, tools: ['write_file', 'list_files'], ...changes });
}

test('it writes the files that are named, lists them, and says what it is', { tags: ['J5'] }, async () => {
  const { tools, written, listed } = makeFileTools();
  const request = 'Hello!\nwrite notes.md: three lines about tides\n- write data/x.txt: 42';
  const main = startRun(await offlineBrief(request), tools);
  const outcome = await main.done;
  expect(Object.fromEntries(written)).toEqual({ 'notes.md': 'three lines about tides\n', 'data/x.txt': '42\n' });
  expect(listed()).toBe(1);
  expect(main.of('step').map(({ reply }) => reply.calls.length)).toEqual([2, 1, 0]);
  expect(outcome).toMatchObject({ status: 'completed', text: expect.stringContaining('built-in offline engine') });
  expect(outcome).toMatchObject({ text: expect.stringContaining('no language model is configured') });
  expect(main.of('text').length).toBeGreaterThanOrEqual(3);
  expect(main.of('step')[2]?.reply.usage.outputTokens).toBeGreaterThan(10);
});

test('without named files it writes a greeting that quotes the request', { tags: ['J5'] }, async () => {
  const { tools, written } = makeFileTools();
  await startRun(await offlineBrief('What is a tide?'), tools).done;
  expect([...written.keys()]).toEqual(['/hello.txt']);
  expect(written.get('/hello.txt')).toContain('> What is a tide?');
});

test('without tools it only answers', async () => {
  const main = startRun(await offlineBrief('Hi', { tools: [] }), []);
  expect(await main.done).toMatchObject({ status: 'completed', text: expect.stringContaining('offline engine') });
  expect(main.of('step')).toHaveLength(1);
});

test('a later turn is planned independently of earlier turns', async () => {
  const { tools, written } = makeFileTools();
  const first = startRun(await offlineBrief('write a.txt: one'), tools);
  await first.done;
  const steps = first.of('step').map(
    ({ reply }): RecordedStep => ({
      ...reply,
      calls: reply.calls.map((call) => ({ ...call, state: { kind: 'ended', result: { ok: true, output: 'ok' } } })),
    }),
  );
  const history = [{ user: [{ type: 'text' as const, text: 'write a.txt: one' }], attachments: [], steps }];
  written.clear();
  await startRun(await offlineBrief('write b.txt: two', { history }), tools).done;
  expect([...written.keys()]).toEqual(['b.txt']);
});

test('it does not claim to have done what failed', async () => {
  const [writeFile, listFiles] = makeFileTools().tools;
  const full: ExecutedTool = {
    ...writeFile,
    execute: () => Promise.resolve({ ok: false, output: 'The disk is full.' }),
  };
  const outcome = await startRun(await offlineBrief('write a.txt: one'), [full, listFiles]).done;
  expect(outcome).toMatchObject({ text: expect.stringMatching(/tried to write `a\.txt`.*1 of the tool calls failed/) });
});
