import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { DaemonOptions, DaemonProcess } from '../../support/daemon/daemon-process.ts';
import { runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { isAlive } from '../../support/is-alive.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((thing) => thing.close()));
});

async function started(options: DaemonOptions = {}): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(options);
  open.push(daemon);
  return daemon;
}

async function ask(daemon: DaemonProcess, text: string): Promise<string> {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
  });
  const body = await response.text();
  expect(response.status, body).toBe(200);
  return (JSON.parse(body) as { content: { text: string }[] }).content.map((block) => block.text).join('');
}

test('a daemon works on the model server it is given, and cleaning up leaves neither process nor directory', async () => {
  const model = await startModelServer();
  open.push(model);
  const daemon = await started({ modelServerUrl: model.url });
  expect(await ask(daemon, 'Say it. [[text=Here you are.]]')).toBe('Here you are.');
  expect(model.requests).toHaveLength(1);
  const status = await daemon.admin('GET', '/api/v1/status');
  expect(status).toMatchObject({ pid: daemon.pid(), data_dir: daemon.dataDir });
  expect(existsSync(daemon.socketPath)).toBe(true);
  await daemon.close();
  await waitFor(() => !isAlive(daemon.pid()));
  expect(existsSync(dirname(daemon.dataDir))).toBe(false);
});

test('a killed daemon starts again at the same address with the same key', async () => {
  const daemon = await started();
  const [pid, url] = [daemon.pid(), daemon.url];
  expect(await daemon.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  await daemon.restart();
  expect(daemon.pid()).not.toBe(pid);
  expect(isAlive(pid)).toBe(false);
  expect(await daemon.admin('GET', '/api/v1/users')).toMatchObject({ items: [{ username: daemon.adminName }] });
});

test('a daemon ends with code 0 on SIGTERM', { tags: ['K5-serve'] }, async () => {
  const daemon = await started();
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});

test('a daemon that cannot start says why', async () => {
  await expect(started({ modelsYaml: 'endpoints: nonsense\n' })).rejects.toThrow(/code 78[^]*models\.yaml:1/);
});

test('what the binary refuses comes back with its words', async () => {
  await expect(runErrand(['no-such-noun'])).rejects.toMatchObject({ code: 2 });
});
