// Settings that give waiting runs a slot, on the real binary: they apply as soon as the file is saved.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;
const slots = (count: number) => `workers: { threads: 1, runs_per_thread: ${count} }\n`;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url, errandYaml: slots(1) });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

test('a run that waits for a slot gets one of those that the settings add', async () => {
  const over = Promise.withResolvers<void>();
  model.script(({ userText }) =>
    userText === 'long' ? { text: ['w', 'w'], hang: 'mid-stream', until: over.promise } : { text: 'Done.' },
  );
  const long = takeTurn(daemon, { content: 'long' });
  await model.waitForRequest(1);
  const waiting = takeTurn(daemon, { content: 'short' });
  const queued = async () => ((await daemon.admin('GET', '/api/v1/queue')) as { total: number }).total;
  await waitFor(async () => (await queued()) === 1);
  writeFileSync(join(daemon.configDir, 'errand.yaml'), slots(2));
  expect(await waiting).toMatchObject({ status: 200, text: 'Done.' });
  over.resolve();
  expect(await long).toMatchObject({ status: 200, text: 'ww' });
});
