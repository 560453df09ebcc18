// Names that keys, users and scheduled tasks hold, after what they name was renamed: found, and moved by the commands that are printed.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExaminationWire } from '../../../src/wire/doctor.ts';
import type { StatusWire } from '../../../src/wire/status.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { BINARY } from '../../support/daemon/initialized.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const models = (model: string, scenario: string) =>
  `endpoints: { here: { kind: offline } }
models: { ${model}: { endpoint: here, model: m }, other: { endpoint: here, model: o } }
scenarios: { ${scenario}: { model: ${model} }, general: { model: other } }
default_scenario: general
`;

let daemon: DaemonProcess;

beforeAll(async () => {
  daemon = await startDaemonProcess({ modelsYaml: models('large-1', 'research') });
  mkdirSync(path.join(daemon.configDir, 'experts'), { recursive: true });
  expert(daemon.configDir, 'lawyer');
  await waitFor(async () => errand('experts', 'show', 'lawyer'));
});
afterAll(() => daemon.close());

const expert = (configDir: string, name: string) =>
  writeFileSync(path.join(configDir, 'experts', `${name}.md`), '---\ndescription: knows the law\n---\nYou know.\n');

async function errand<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

const check = (...args: readonly string[]) => runErrand(['config', 'check', '--data-dir', daemon.dataDir, ...args]);

async function pinsCheck() {
  const { checks } = await errand<ExaminationWire>('doctor').catch(
    (error: { stdout: string }) => JSON.parse(error.stdout) as ExaminationWire,
  );
  return checks.find(({ id }) => id === 'pins')!;
}

test('what was renamed is named with its holders before and after, and each printed command moves one', async () => {
  await errand('users', 'create', 'alice', '--scenario', 'research');
  await errand('keys', 'create', '--user', 'alice', '--scope', 'global', '--name', 'laptop', '--model', 'large-1');
  await errand('keys', 'create', '--user', 'alice', '--scope', 'global', '--name', 'law', '--target', 'expert:lawyer');
  await errand('schedules', 'create', 'brief', '--user', 'alice', '--daily', '07:00', '--timezone', 'UTC', '--target', 'expert:lawyer', '--prompt', 'Read.'); // biome-ignore format: one command
  const expired = ['--user', 'alice', '--scope', 'global', '--name', 'old', '--model', 'large-1'];
  const { id } = await errand<{ id: string }>('keys', 'create', ...expired);
  await errand('keys', 'revoke', id, '--yes');
  expect(await pinsCheck()).toMatchObject({ state: 'ok' });
  expect((await check()).stderr).toBe('');

  const next = path.join(daemon.dataDir, '..', 'next');
  cpSync(daemon.configDir, next, { recursive: true });
  writeFileSync(path.join(next, 'models.yaml'), models('large-2', 'studies'));
  renameSync(path.join(next, 'experts', 'lawyer.md'), path.join(next, 'experts', 'lawyers.md'));
  const before = await check('--config-dir', next);
  for (const words of ['laptop', 'law', 'brief', 'user alice has the scenario research'])
    expect(before.stderr).toContain(words);
  expect(before.stderr).toContain('4 are without');
  // Nothing has changed yet.
  expect(await pinsCheck()).toMatchObject({ state: 'ok' });

  cpSync(path.join(next, 'models.yaml'), path.join(daemon.configDir, 'models.yaml'));
  renameSync(path.join(daemon.configDir, 'experts', 'lawyer.md'), path.join(daemon.configDir, 'experts', 'lawyers.md'));
  await waitFor(async () => (await pinsCheck()).evidence.includes('brief'));
  const { parts } = await errand<StatusWire>('status');
  expect(parts.find(({ name }) => name === 'pins')).toMatchObject({ state: 'degraded' });
  expect((await check()).stderr).toContain('errand users set alice --scenario none');

  const { remedy } = await pinsCheck();
  const commands = remedy!.split('\n');
  expect(commands).toHaveLength(4);
  expect(commands.filter((command) => command.endsWith('--model large-2'))).toHaveLength(1);
  expect(commands.filter((command) => command.endsWith('--target expert:lawyers'))).toHaveLength(2);
  for (const command of commands)
    await promisify(execFile)('sh', ['-c', command.replace(/^errand /, `${BINARY} --data-dir ${daemon.dataDir} `)]);
  expect(await pinsCheck()).toMatchObject({ state: 'ok' });
  expect((await errand<StatusWire>('status')).parts.find(({ name }) => name === 'pins')).toMatchObject({ state: 'ok' });
});

test('beside a stopped daemon, a check of the files reads who is pinned from the data', async () => {
  writeFileSync(path.join(daemon.configDir, 'models.yaml'), models('huge', 'general-use'));
  await daemon.stop();
  expect((await check()).stderr).toContain('key');
  expect(await pinsCheck()).toMatchObject({ state: 'warning', remedy: expect.stringContaining('--model') });
  await daemon.restart();
});
