// Readiness of a daemon: it says no exactly while new turns are refused, and until a first start is over.
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { formatProblem } from '../../src/catalog/reading/problem.ts';
import { loadLiveConfig } from '../../src/config/read-configuration.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { waitFor } from '../support/time/wait-for.ts';

async function start(configDir: string) {
  const flags = { dataDir: temporaryDirectory(), configDir, listen: '127.0.0.1:0', noWorkers: true };
  const loaded = loadLiveConfig(flags, {});
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  const daemon = await startDaemon(loaded);
  onTestFinished(() => daemon.halt());
  return { daemon, ask: (path: string, init?: RequestInit) => fetch(daemon.url + path, init) };
}

test('a first start is alive and ready only once its credentials have been shown', {
  tags: ['K5-first-start'],
}, async () => {
  const { daemon, ask } = await start(temporaryDirectory({ 'errand.yaml': 'log: { level: fatal }\n' }));
  expect(daemon.created).not.toBeNull();
  let isAlive = false;
  const alive = ask('/healthz').then(({ status }) => {
    isAlive = status === 200;
  });
  const ready = await ask('/readyz');
  expect([ready.status, isAlive]).toEqual([503, false]);
  expect(await ready.json()).toMatchObject({
    parts: expect.arrayContaining([{ name: 'daemon', state: 'failed', detail: 'starting' }]) as unknown[],
  });
  await daemon.ready();
  await alive;
  expect([isAlive, (await ask('/healthz')).status, (await ask('/readyz')).status]).toEqual([true, 200, 200]);
});

test('who asks a first start whether it is alive hears of a stop that comes before', async () => {
  const { daemon } = await start(temporaryDirectory({ 'errand.yaml': 'log: { level: fatal }\n' }));
  const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1');
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  // In one piece: the second has arrived once the first has its reply.
  socket.write(['/readyz', '/healthz'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  await waitFor(() => heard.includes('"starting"'));
  await daemon.drain();
  await waitFor(() => heard.includes('The daemon stops before it has started.'));
  expect(heard.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 503', 'HTTP/1.1 503']);
});

test('below disk.keep_free_mb /readyz is 503 with Retry-After, as turns are, and 200 again above it', {
  tags: ['L8'],
}, async () => {
  const configDir = temporaryDirectory();
  const keepFree = (megabytes: number) => {
    const lines = [`disk: { keep_free_mb: ${megabytes} }`, 'log: { level: fatal }', 'shell: { enabled: false }', ''];
    writeFileSync(join(configDir, 'errand.yaml'), lines.join('\n'));
  };
  // More than any disk has.
  keepFree(16_777_216);
  const { daemon, ask } = await start(configDir);
  await daemon.ready();
  const turn = async () => {
    const headers = { authorization: `Bearer ${daemon.created!.apiKey.key}`, 'content-type': 'application/json' };
    const messages = [{ role: 'user', content: 'Hi' }];
    const body = JSON.stringify({ model: 'any', max_tokens: 9, messages, background: true, idempotency_key: 'one' });
    return (await ask('/openapi/v1/messages', { method: 'POST', headers, body })).status;
  };

  const low = await ask('/readyz');
  expect([low.status, low.headers.get('retry-after'), await turn()]).toEqual([503, '5', 503]);
  const words = expect.stringContaining('almost full: less than 16777216 MB') as string;
  expect(await low.json()).toMatchObject({
    ready: false,
    parts: expect.arrayContaining([{ name: 'disk', state: 'failed', detail: words }]) as unknown[],
  });
  expect((await ask('/healthz')).status).toBe(200);

  keepFree(0);
  daemon.reload();
  expect((await ask('/readyz')).status).toBe(200);
  expect(await turn()).toBe(202);
});
