// What nodes of one installation have configured is compared: each of them names the one that has it otherwise, while it has.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type DaemonProcess, runErrand } from '../../support/daemon/daemon-process.ts';
import { startInstallation } from '../../support/daemon/installation.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const PUBLIC_URL = 'public_url: https://errand.example\n';

const errand = async (daemon: DaemonProcess, ...args: string[]) =>
  runErrand([...args, '--data-dir', daemon.dataDir]).catch((ended: { stdout: string; stderr: string }) => ended);
/** What `errand nodes list` says beside the list. */
const hints = async (daemon: DaemonProcess) => (await errand(daemon, 'nodes', 'list')).stderr;
const OTHER = 'The node south has another configuration than other nodes: ';

test('nodes with another public address, other settings or other definitions are named until they have the same', {
  tags: ['L6'],
}, async () => {
  // No turn is taken.
  const settings = { modelServerUrl: 'http://127.0.0.1:9', errandYaml: PUBLIC_URL };
  const { nodes } = await startInstallation(2, settings, { onTestFinished });
  const [north, south] = nodes as [DaemonProcess, DaemonProcess];
  const file = (name: string) => join(south.configDir, name);
  const before = readFileSync(file('errand.yaml'), 'utf8');

  writeFileSync(
    file('errand.yaml'),
    `${before.replace('errand.example', 'other.example')}model: { max_steps: 7 }\nlog: { level: warn }\n`,
  );
  appendFileSync(file('models.yaml'), '\n# A comment is no difference.\n');
  const words = `${OTHER}model.max_steps, public_url.\n`;
  for (const each of [north, south]) await waitFor(async () => sorted(await hints(each)) === sorted(words));
  const status = (await north.admin('GET', '/api/v1/status')) as { parts: { name: string; detail: string }[] };
  expect(status.parts.find(({ name }) => name === 'configuration')).toMatchObject({
    state: 'degraded',
    detail: expect.stringContaining('south has another configuration than other nodes') as string,
  });
  const { stdout } = await errand(south, 'doctor', '-o', 'json');
  const { checks, node } = JSON.parse(stdout) as { checks: Record<string, string>[]; node: { name: string } };
  expect(node.name).toBe('south');
  expect((await errand(north, 'doctor')).stderr).toMatch(/^Examined by node north \([-\da-f]{36}\)\.$/m);
  expect(checks.find(({ id }) => id === 'nodes')).toMatchObject({
    state: 'warning',
    evidence: expect.stringContaining('public_url') as string,
  });

  writeFileSync(file('errand.yaml'), before);
  await waitFor(async () => (await hints(north)) === '');

  const models = readFileSync(file('models.yaml'), 'utf8');
  writeFileSync(file('models.yaml'), models.replace('context_window: 128000', 'context_window: 64000'));
  await waitFor(async () => (await hints(north)) === `${OTHER}models.\n`);
});

/** The order of the settings is that of their table. */
const sorted = (line: string) =>
  line
    .trim()
    .split(/, |: |\.$/)
    .toSorted()
    .join();
