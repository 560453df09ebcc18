import { chmodSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

let daemon: DaemonProcess | undefined;
afterEach(async () => {
  await daemon?.close();
});

/** How a command that is refused ends. */
async function refusalOf(args: readonly string[]): Promise<{ code: number; stderr: string }> {
  return runErrand(args).then(
    () => Promise.reject(new Error(`errand ${args.join(' ')} was not refused`)),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

test('a daemon whose master key is missing does not start, until the key is back or given up', async () => {
  daemon = await startDaemonProcess();
  const { dataDir, restart, stop } = daemon;
  await stop();
  const key = join(dataDir, 'master.key');
  renameSync(key, `${key}.away`);
  const refused = await refusalOf(['serve', '--data-dir', dataDir, '--listen', '127.0.0.1:0']);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain(`The master key ${key} is missing`);
  expect(existsSync(key)).toBe(false);

  renameSync(`${key}.away`, key);
  await restart();
  await stop();

  renameSync(key, `${key}.away`);
  const { stderr } = await runErrand(['init', '--new-master-key', '--data-dir', dataDir]);
  expect(stderr).toContain('is a new master key. All login tokens');
  await restart();
  expect(await daemon.admin('GET', '/api/v1/status')).toMatchObject({ ready: true });
});

test('a data directory that others may enter is refused with what to run, an empty one is made private', async () => {
  const dataDir = join(temporaryDirectory({ 'data/notes.txt': 'x' }), 'data');
  for (const mode of [0o755, 0o750, 0o710, 0o701]) {
    chmodSync(dataDir, mode);
    const { code, stderr } = await refusalOf(['init', '--data-dir', dataDir]);
    expect([code, stderr]).toEqual([6, expect.stringContaining(`Run: chmod 700 ${dataDir}`)]);
    expect(existsSync(join(dataDir, 'errand.db'))).toBe(false);
  }
  const empty = join(temporaryDirectory(), 'data');
  mkdirSync(empty, { mode: 0o755 });
  await runErrand(['init', '--data-dir', empty]);
  expect(statSync(empty).mode & 0o777).toBe(0o700);
});

test('a database and a lock that an earlier version left open to others are closed to them at the next start', async () => {
  daemon = await startDaemonProcess();
  await daemon.stop();
  const files = ['errand.db', 'errand.lock'].map((name) => join(daemon!.dataDir, name));
  for (const file of files) chmodSync(file, 0o644);
  await daemon.restart();
  for (const file of files) expect(statSync(file).mode & 0o777, file).toBe(0o600);
});
