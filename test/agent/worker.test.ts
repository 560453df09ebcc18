// The worker's task in a real thread pool: the module loads there, talks over its port, and several runs share a thread.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { afterAll, expect, test } from 'vitest';
import { startModelServer } from '../support/model/model-server.ts';
import { GRANT, type MainSide, makeBrief, sitAtMain } from './play-main.ts';
import type { Brief, Control, Message, ThreadControl, ThreadTask } from '../../src/agent/port/protocol.ts';

const pool = new Piscina<ThreadTask, void>({
  filename: new URL('../../src/agent/worker.ts', import.meta.url).href,
  atomics: 'disabled',
  minThreads: 1,
  maxThreads: 1,
});
const { port1: port, port2 } = new MessageChannel();
const numberOf = () => new Int32Array(new SharedArrayBuffer(4));
const task = pool.run({ port: port2, taken: numberOf(), budgets: numberOf(), windowMs: 4 }, { transferList: [port2] });
const post = (message: ThreadControl) => port.postMessage(message);
/** The ports of the tests, one for each run. */
const runs = new Map<number, MessagePort>();
port.on('message', (message: Message) => {
  for (const batch of message) runs.get(batch.run)?.postMessage([batch]);
});
afterAll(async () => {
  port.close();
  await task;
  await pool.destroy();
});

function startInThread(brief: Brief): MainSide {
  const { port1: here, port2: there } = new MessageChannel();
  const run = runs.size + 1;
  runs.set(run, here);
  here.on('message', (control: Control) => post({ run, control }));
  afterAll(() => here.close());
  post({ run, brief, waiting: numberOf() });
  return sitAtMain(there);
}

const OFFLINE = { ...GRANT, kind: 'offline' as const, baseUrl: '', apiKey: null };

test('a run in a thread writes its files and streams its answer', async () => {
  const turn = { user: [{ type: 'text' as const, text: 'write notes.md: tides' }], attachments: [], steps: [] };
  const brief = await makeBrief({ model: OFFLINE, turn, tools: ['write_file', 'list_files'] });
  const main = startInThread(brief);
  expect(await main.done).toMatchObject({ status: 'completed' });
  expect(await readFile(join(brief.workspace, 'notes.md'), 'utf8')).toBe('tides\n');
  expect(main.signals.at(-1)?.t).toBe('done');
  expect(main.blocks()[0]).toContain('offline engine');
});

test('runs share a thread: one that is stopped leaves the others alone', async () => {
  await using closing = new AsyncDisposableStack();
  const server = await startModelServer();
  closing.defer(() => server.close());
  server.script(({ userText }) =>
    userText === 'endless' ? { text: ['x'], endless: true, deltaMs: 5 } : { text: 'ok' },
  );
  const start = async (text: string) => {
    const turn = { user: [{ type: 'text' as const, text }], attachments: [], steps: [] };
    return startInThread(await makeBrief({ model: { ...GRANT, baseUrl: server.url }, turn }));
  };
  const endless = await start('endless');
  await endless.next(({ t }) => t === 'text');
  const others = await Promise.all([start('a'), start('b'), start('c')]);
  expect((await Promise.all(others.map(({ done }) => done))).map(({ status }) => status)).toEqual([
    'completed',
    'completed',
    'completed',
  ]);
  endless.control({ t: 'abort', reason: 'stopped' });
  expect(await endless.done).toEqual({ status: 'canceled' });
});

test('a brief that makes no sense ends as a failed run and never as a lost thread', async () => {
  const main = startInThread({ ...(await makeBrief()), turn: null } as unknown as Brief);
  expect(await main.done).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: false } });
});

test('the options that threads set are known to this Node.js', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(known).toContain('--enable-experimental-regexp-engine-on-excessive-backtracks ');
  expect(known).toContain('--memory-reducer-favors-memory ');
});
