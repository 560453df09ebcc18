// The thread that makes backups, and those who take its archives.
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { backupsOf } from '../support/backups/backups-of.ts';

const requestOf = (id: string, to: (bytes: Uint8Array) => Promise<void>) => ({
  id: `20260302T033000Z-${id}`,
  to,
  workspaces: true,
  passphrase: null,
});

test('a reader who is gone ends the backup, and the thread makes the next one', async () => {
  const { backups, held, staging } = await backupsOf();
  const gone = async () => {
    throw new Error('gone');
  };
  await expect(backups.take(requestOf('000001', gone))).rejects.toThrow('The backup was cancelled.');
  expect([held.now, existsSync(staging)]).toEqual([0, false]);
  expect(await backups.take(requestOf('000002', async () => undefined))).toMatchObject({ blobs: { files: 1 } });
});

test('a configuration behind a link is copied, and the master key in it is not', async () => {
  const root = temporaryDirectory();
  symlinkSync(join(root, 'config'), join(root, 'link'));
  const configDir = join(root, 'link');
  const { backups, put } = await backupsOf(
    { configDir, masterKey: { path: join(configDir, 'master.key'), isCredential: false } },
    root,
  );
  for (const name of ['errand.yaml', 'master.key']) put(join(configDir, name), '# x');
  expect((await backups.take(requestOf('000001', async () => undefined))).configuration.files).toBe(1);
});

test('a backup is cancelled while its reader takes nothing', async () => {
  const { backups, held, staging } = await backupsOf();
  const leaving = new AbortController();
  const never = async () => {
    leaving.abort();
    return new Promise<void>(() => undefined);
  };
  await expect(backups.take(requestOf('000001', never), { signal: leaving.signal })).rejects.toThrow('was cancelled');
  expect([held.now, existsSync(staging)]).toEqual([0, false]);
});
