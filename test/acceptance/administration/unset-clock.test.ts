// A real daemon on a machine that starts in 1970, as one whose battery is empty and that has no network yet.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn, type TurnAnswer } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const PRELOAD = fileURLToPath(new URL('../../support/daemon/earlier-clock.mjs', import.meta.url));
const IN_1970 = { NODE_OPTIONS: `--import=${PRELOAD}`, TEST_CLOCK_BEHIND_MS: String(Date.now() - 86_400_000) };
const ERRAND_YAML = 'retention: { events_days: 1, runs_days: 1, audit_days: 1, workspaces_idle_days: 1 }\n';

let model: ModelServer;
let daemon: DaemonProcess;
let earlier: TurnAnswer;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url, errandYaml: ERRAND_YAML });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const ask = (text: string) =>
  takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: `[[text=${text}]]`, stream: true });
const errand = async (...args: string[]) => (await runErrand([...args, '--data-dir', daemon.dataDir])).stdout;

test('the daemon starts, answers, and status and doctor say that the clock was never set', async () => {
  earlier = await ask('today');
  await daemon.restart({ env: IN_1970 });
  expect((await ask('in 1970')).text).toContain('in 1970');
  expect(await errand('status')).toMatch(/part_clock\s+degraded: it is 1970-01-02T.*: the clock was never set/);
  await expect(errand('doctor')).rejects.toMatchObject({
    stdout: expect.stringMatching(/clock\s+failed\s+it is 1970-01-02T.*timedatectl set-ntp true/) as string,
  });
});

test('nothing is removed because of it, neither in 1970 nor once the clock is right', async () => {
  // What the runs made is collected by then, which adds events.
  const before = await contentsOf(daemon);
  await errand('gc');
  await daemon.restart();
  await expect(errand('gc')).rejects.toMatchObject({ stderr: expect.stringContaining('--trust-clock') as string });
  expect(await contentsOf(daemon)).toEqual(before);
  expect(await errand('runs', 'show', earlier.runId!)).toContain('completed');
  expect(await errand('status')).not.toContain('part_clock');
});
