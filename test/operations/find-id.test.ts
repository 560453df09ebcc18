// One id from its start, or the reason why not.
import { expect, test } from 'vitest';
import { notFound } from '../../src/domain/errors.ts';
import { ID_NOUNS } from '../../src/domain/ids.ts';
import type { Administrator } from '../../src/domain/people/user.ts';
import { makeFindId } from '../../src/operations/find-id.ts';
import type { Store } from '../../src/store/open-store.ts';

const ID = '0190f6a0-0000-7000-8000-00000000000';
const caller = {} as Administrator;

/** Finds the given ids; only ann has a name. */
const finding = (...ids: readonly string[]) => {
  const get = async (name: string) => {
    if (name === 'ann' || name === 'cafe') return { id: `id of ${name}` };
    throw notFound('User');
  };
  const findIds = async (_noun: string, start: string, limit: number) =>
    ids.filter((id) => id.startsWith(start)).slice(0, limit);
  const named = ['cafe', 'north', 'dead', 'dead'].map((name, at) => ({ id: `node ${at}`, name }));
  return makeFindId({
    findIds,
    users: { get },
    teams: { get },
    nodes: { list: async () => named },
  } as unknown as Store);
};

test.each(ID_NOUNS)('the one id of %s with the prefix is found, also in capitals', async (noun) => {
  expect(await finding(`${ID}1`)(caller, noun, '0190F6A0-0')).toBe(`${ID}1`);
});

test('no such id is not found', async () => {
  await expect(finding(`${ID}1`)(caller, 'runs', '0191')).rejects.toMatchObject({
    reason: 'not_found',
    message: notFound('Run').message,
  });
});

test('several ids are a conflict that names up to five of them', async () => {
  await expect(finding(`${ID}1`, `${ID}2`)(caller, 'runs', '0190')).rejects.toMatchObject({
    reason: 'conflict',
    message: `Several runs have an id that begins with 0190: ${ID}1, ${ID}2.`,
  });
  const many = Array.from({ length: 8 }, (_, at) => `${ID}${at}`);
  await expect(finding(...many)(caller, 'sessions', '0190')).rejects.toThrow(
    `Several sessions have an id that begins with 0190: ${many.slice(0, 5).join(', ')} and more.`,
  );
});

test.each(['019', '', 'xyzw', '0190f6a00000', '0190_6a0', `${ID}11`, '%%%%'])(
  '%j cannot begin an id',
  async (start) => {
    await expect(finding()(caller, 'runs', start)).rejects.toMatchObject({ reason: 'unprocessable' });
  },
);

test('a name comes before an id that begins so', async () => {
  expect(await finding('cafe0000-0000-7000-8000-000000000000')(caller, 'users', 'cafe')).toBe('id of cafe');
  expect(await finding()(caller, 'teams', 'ann')).toBe('id of ann');
  expect(await finding('cafe0000-0000-7000-8000-000000000000')(caller, 'nodes', 'cafe')).toBe('node 0');
  expect(await finding()(caller, 'nodes', 'north')).toBe('node 1');
  // A name that several have isn't one: whoever is asked for it says so.
  await expect(finding()(caller, 'nodes', 'dead')).rejects.toMatchObject({ reason: 'not_found' });
});
