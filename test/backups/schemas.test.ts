// Backups that an earlier Errand has made, or a later one.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, test } from 'vitest';
import { restore } from '../../src/backups/restore.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { OLDEST_SCHEMA as OLDEST, SCHEMA_VERSION } from '../../src/store/engine/schema.ts';
import { FORMAT } from '../../src/wire/backups/manifest.ts';
import { openStore } from '../support/store/open-store.ts';
import { makeByHand } from '../support/backups/handmade.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { olderDatabase } from '../support/store/older-database.ts';

const NOTES = 'workspaces/6f1c0d3e-8f43-4b0e-9b55-6f0f6f0f6f0f/notes.txt';
const entries = [{ kind: 'workspace', path: NOTES.slice('workspaces/'.length), content: 'High at six.' }] as const;
const FORMAT_1 = { format: 1, workspaces: { files: 1, bytes: 0 }, configuration: { files: 0, bytes: 0 } };

async function older(version: number) {
  const root = temporaryDirectory();
  const [repository, database] = [join(root, 'repository'), join(root, 'errand.db')];
  await olderDatabase(database, version);
  return { root, repository, database };
}

const versionOf = (file: string) => {
  const connection = new Connection(file, { readonly: true });
  const found = connection.pragma('user_version', { simple: true });
  connection.close();
  return found;
};

// The oldest that is migrated, and the last one before this.
test.each([OLDEST, SCHEMA_VERSION - 1])(
  'a backup with schema %d is verified, restored and migrated',
  async (version) => {
    const { root, repository, database } = await older(version);
    const id = await makeByHand({ repository, database, entries, facts: FORMAT_1 });
    expect(await verdictOf(repository, id)).toMatchObject({ faults: [], isSealVerified: true });
    for (const paused of [false, true]) {
      const target = join(root, `paused-${paused}`);
      mkdirSync(target);
      await restore(requestOf(repository, target, { paused }));
      expect(existsSync(join(target, 'data', NOTES))).toBe(true);
      const file = join(target, 'data', 'errand.db');
      expect(versionOf(file)).toBe(paused ? SCHEMA_VERSION : version);
      const store = openStore(file, systemClock);
      expect(await store.users.list('', 100)).toMatchObject([{ username: 'ada' }]);
      await store.close();
      expect(versionOf(file)).toBe(SCHEMA_VERSION);
    }
  },
);

test('a backup of a newer Errand is refused with its version, and nothing is written', async () => {
  const { root, repository, database } = await older(SCHEMA_VERSION);
  const facts = { ...FORMAT_1, schema_version: SCHEMA_VERSION + 1, errand_version: '9.1.0' };
  const id = await makeByHand({ repository, database, entries, facts });
  const words = 'The backup was made by a newer Errand, 9.1.0. Use that one.';
  await expect(restore(requestOf(repository, join(root, 'target')))).rejects.toThrow(words);
  await expect(verdictOf(repository, id)).rejects.toThrow(words);
  expect(existsSync(join(root, 'target'))).toBe(false);
});

test('a backup whose database is too old is refused with the way out, and nothing is written', async () => {
  const { root, repository, database } = await older(OLDEST);
  const id = await makeByHand({ repository, database, entries, facts: { ...FORMAT_1, schema_version: OLDEST - 1 } });
  const words = 'Start it once with the last Errand 0.1';
  await expect(restore(requestOf(repository, join(root, 'target')))).rejects.toThrow(words);
  await expect(verdictOf(repository, id)).rejects.toThrow(words);
  expect(existsSync(join(root, 'target'))).toBe(false);
});

test('a backup of a newer format is refused', async () => {
  const { root, repository, database } = await older(SCHEMA_VERSION);
  const id = await makeByHand({ repository, database, entries, facts: { format: FORMAT + 1 } });
  expect(() => requestOf(repository, root)).toThrow('has a newer format. Use the Errand that made it, or a newer one.');
  expect((await verdictOf(repository, id)).faults.join()).toContain('has a newer format');
});
