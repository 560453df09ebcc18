// Users with the names of their teams.
import { expect, test } from 'vitest';
import { storeFixture } from '../../support/store/store-fixture.ts';

async function peopled() {
  const fixture = await storeFixture();
  const { users, teams } = fixture.store;
  const fresh = { ...fixture.user, passwordHash: 'x', teamId: null };
  const create = async (username: string, teamId: string | null) => users.create({ ...fresh, username, teamId });
  const team = async (name: string) => (await teams.create({ name, budgetUsd: null })).id;
  const listed = async () => new Map((await users.list('', 100)).map((user) => [user.username, user.teamName]));
  return { ...fixture.store, create, team, listed };
}

test('each user is listed with the name of their team as it is now', async () => {
  const { teams, users, create, team, listed } = await peopled();
  const blue = await team('Blue');
  expect(await create('olga', blue)).toMatchObject({ teamId: blue, teamName: 'Blue' });
  expect(await create('nils', null)).toMatchObject({ teamId: null, teamName: null });
  await teams.change('Blue', { name: 'Azure' });
  const red = await team('Red');
  expect(await users.change('nils', { teamId: red })).toMatchObject({ teamName: 'Red' });
  expect([...(await listed())].filter(([, name]) => name !== null)).toEqual([
    ['nils', 'Red'],
    ['olga', 'Azure'],
  ]);
  expect(await users.change('nils', { teamId: null })).toMatchObject({ teamName: null });
});

test('a user whose name is the id of another is created and changed as themselves', async () => {
  const { users, create, team } = await peopled();
  const { id } = await create('olga', null);
  const namesake = await create(id, await team('Blue'));
  expect(await users.get(id)).toMatchObject({ username: 'olga' });
  expect(namesake).toMatchObject({ username: id, teamName: 'Blue' });
  expect(await users.change(namesake.id, { department: 'Mill' })).toMatchObject({ username: id, department: 'Mill' });
});
