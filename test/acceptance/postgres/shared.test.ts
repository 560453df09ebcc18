// What nodes of an installation have in common, or each for itself: two real daemons on one database and one bucket.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, runErrand } from '../../support/daemon/daemon-process.ts';
import { startInstallation } from '../../support/daemon/installation.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const EARLIER = fileURLToPath(new URL('../../support/daemon/earlier-clock.mjs', import.meta.url));

let [north, south]: [DaemonProcess, DaemonProcess] = [] as never;
const closers: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  const of = { onTestFinished: (close: () => void | Promise<void>) => void closers.push(close) };
  // Otherwise each has its own, and that they differ is said after a while.
  const errandYaml = 'public_url: https://errand.example\n';
  [north, south] = (await startInstallation(2, { errandYaml }, of)).nodes as [DaemonProcess, DaemonProcess];
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

interface Failed {
  readonly stdout: string;
  readonly stderr: string;
}
const errand = (node: DaemonProcess, ...args: readonly string[]) =>
  runErrand([...args, '--data-dir', node.dataDir]).catch((failed: Failed) => failed);

test('each node has an anchor of the audit log, which must be there from then on', async () => {
  const file = (node: DaemonProcess) => join(node.dataDir, 'audit-anchor.json');
  for (const node of [north, south]) {
    await errand(node, 'keys', 'create', '--user', 'admin', '--name', 'one');
    expect((await errand(node, 'audit', 'verify')).stderr).toBe('');
    expect(JSON.parse(readFileSync(file(node), 'utf8'))).toMatchObject({ doubt: null });
  }
  await south.restart();
  expect((await errand(south, 'audit', 'verify')).stderr).toBe('');
  await south.stop();
  rmSync(file(south));
  await south.restart();
  expect((await errand(south, 'audit', 'verify')).stderr).toMatch(/anchor/);
  expect(existsSync(file(south))).toBe(true);
  expect((await errand(north, 'audit', 'verify')).stderr).toBe('');
});

test('a node whose clock is behind says so, and the others name it', async () => {
  const env = { NODE_OPTIONS: `--import ${EARLIER}`, TEST_CLOCK_BEHIND_MS: '60000' };
  await south.restart({ env });
  const words = /clock of south is (59|60)\.\d s behind the database's/;
  await waitFor(async () => words.test((await errand(north, 'nodes', 'list')).stderr));
  const doctor = await errand(north, 'doctor', '-o', 'json');
  const { checks } = JSON.parse(doctor.stdout) as { checks: { id: string; state: string; evidence: string }[] };
  expect(checks.find(({ id }) => id === 'nodes')).toMatchObject({
    state: 'warning',
    evidence: expect.stringMatching(words) as string,
  });
  expect(south.stderr()).toMatch(/the clock of this machine is (59|60)\.\d s behind the database's/);
  await south.restart();
  await waitFor(async () => (await errand(north, 'nodes', 'list')).stderr === '');
});
