import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { accountOf } from '../../src/domain/people/account-name.ts';
import { migrate } from '../../src/store/engine/sqlite/migrate.ts';
import { onlyOnSqlite, openStore } from '../support/store/open-store.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import { storeFixture } from '../support/store/store-fixture.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

test('no new account looks like another', async () => {
  const { store, user } = await storeFixture();
  for (const username of ['mara', 'MARA', 'ｍara']) {
    await expect(store.users.create({ ...user, username, passwordHash: 'x' })).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringMatching(`^The username ${username} is taken`) as string,
    });
  }
  const ensured = await Promise.all(
    ['nils', 'NILS', 'Nils'].map((username) => store.users.ensure({ ...user, username, passwordHash: 'x' })),
  );
  expect(new Set(ensured.map(({ id }) => id)).size).toBe(1);
  expect(await store.users.count()).toBe(2);
});

/** A file of the time before account names were compared, with these users. */
function fileOfBefore(usernames: readonly string[]): string {
  const file = join(temporaryDirectory(), 'errand.db');
  const connection = new Connection(file);
  migrate(connection, file);
  const insert = connection.prepare(
    `INSERT INTO users (id, username, full_name, department, role, password_hash, account, exact_only, created_at, updated_at)
     VALUES (?, ?, '', '', 'user', ?, ?, ?, 0, 0)`,
  );
  const isAlone = (account: string) => usernames.filter((name) => accountOf(name) === account).length === 1;
  for (const username of usernames) {
    const account = accountOf(username);
    insert.run(`id-of-${username}`, username, `hash-of-${username}`, account, isAlone(account) ? 0 : 1);
  }
  connection.close();
  return file;
}

test(
  'accounts of before that look alike keep working by their exact names, and get no further company',
  onlyOnSqlite('files of earlier releases'),
  async () => {
    const store = openStore(fileOfBefore(['Pia', 'nils', 'NILS', 'Straße', 'straße', 'STRASSE']), fakeClock());
    onTestFinished(() => store.close());
    const nameFor = async (name: string) => (await store.users.findLogin(name))?.user.username;
    expect(await nameFor('pia')).toBe('Pia');
    for (const name of ['nils', 'NILS', 'Straße', 'straße', 'STRASSE']) expect(await nameFor(name)).toBe(name);
    for (const name of ['Nils', 'strasse']) expect(await nameFor(name)).toBeUndefined();
    expect(new Set(await store.users.listLookAlikes())).toEqual(
      new Set(['nils', 'NILS', 'Straße', 'straße', 'STRASSE']),
    );
    const [template] = await store.users.list('', 100);
    for (const username of ['Nils', 'strasse']) {
      const another = { ...template!, username, passwordHash: 'x' };
      await expect(store.users.create(another)).rejects.toMatchObject({ reason: 'conflict' });
      await expect(store.users.ensure(another)).rejects.toMatchObject({ reason: 'conflict' });
    }
  },
);
