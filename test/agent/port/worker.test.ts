// The worker's task in a real thread pool: the module loads there, talks over its port, and several runs share a thread.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { afterAll, expect, test } from 'vitest';
import { startModelServer } from '../../support/model/model-server.ts';
import { GRANT, type MainSide, makeBrief, sitAtMain } from '../play-main.ts';
import type { Brief } from '../../../src/agent/port/protocol.ts';

const pool = new Piscina({
  filename: new URL('../../../src/agent/port/worker.ts', import.meta.url).href,
  atomics: 'disabled',
  minThreads: 1,
  maxThreads: 1,
  concurrentTasksPerWorker: 8,
});
afterAll(() => pool.destroy());

function startInThread(brief: Brief): { main: MainSide; task: Promise<unknown> } {
  const { port1, port2 } = new MessageChannel();
  const main = sitAtMain(port1);
  return { main, task: pool.run({ brief, port: port2 }, { transferList: [port2] }) };
}

const OFFLINE = { ...GRANT, kind: 'offline' as const, baseUrl: '', apiKey: null };

test('a run in a thread writes its files, streams its answer and closes its port', async () => {
  const turn = { user: [{ type: 'text' as const, text: 'write notes.md: tides' }], attachments: [], steps: [] };
  const brief = await makeBrief({ model: OFFLINE, turn, tools: ['write_file', 'list_files'] });
  const { main, task } = startInThread(brief);
  expect(await main.done).toMatchObject({ status: 'completed' });
  await task;
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
  await endless.main.next(({ t }) => t === 'text');
  const others = await Promise.all([start('a'), start('b'), start('c')]);
  expect((await Promise.all(others.map(({ main }) => main.done))).map(({ status }) => status)).toEqual([
    'completed',
    'completed',
    'completed',
  ]);
  endless.main.control({ t: 'abort', reason: 'stopped' });
  expect(await endless.main.done).toEqual({ status: 'canceled' });
  await Promise.all([endless, ...others].map(({ task }) => task));
});

test('a brief that makes no sense ends as a failed run and never as a lost thread', async () => {
  const { main, task } = startInThread({ ...(await makeBrief()), turn: null } as unknown as Brief);
  expect(await main.done).toMatchObject({ status: 'failed', error: { type: 'api_error', retryable: false } });
  await task;
});
