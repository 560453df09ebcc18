// Names that aren't defined, and who holds them.
import Connection from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { MOST_LOST_PINS } from '../../../src/domain/capabilities/pin.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { onlyOnSqlite } from '../../support/store/open-store.ts';

const defined = (...models: string[]) => ({
  model: new Set(models),
  scenario: new Set<string>(),
  expert: new Set(['lawyer']),
  team: new Set<string>(),
});

async function keyed() {
  const fixture = await storeFixture();
  const { keys, pins } = fixture.store;
  let made = 0;
  const key = async (fields: Partial<typeof fixture.key>) => {
    made += 1;
    const id = `k${String(made).padStart(7, '0')}`;
    return keys.create({ ...fixture.key, id, secretSha256: Buffer.alloc(32), ...fields });
  };
  return { ...fixture, key, keys, lost: pins.lost };
}

test('only what is usable and names what is gone counts', async () => {
  const { key, keys, lost, store } = await keyed();
  await key({ model: 'here' });
  await key({ target: 'expert:lawyer' });
  const gone = await key({ model: 'gone', target: 'team:lost' });
  await key({ model: 'gone', expiresAt: 5 });
  await keys.revoke((await key({ model: 'gone' })).id);
  const stranger = await store.users.create({
    ...(await store.users.get(gone.userId)),
    username: 'olga',
    passwordHash: 'x',
  });
  await key({ model: 'gone', userSeq: stranger.seq });
  await store.users.change('olga', { disabled: true, scenario: 'gone' });
  expect(await lost(defined('here'), 5, 10)).toEqual({
    pins: [
      { holder: 'key', id: gone.id, name: gone.name, username: gone.username, kind: 'model', to: 'gone' },
      { holder: 'key', id: gone.id, name: gone.name, username: gone.username, kind: 'team', to: 'lost' },
    ],
    total: 2,
  });
});

test('so many are named, the others are counted, and counting ends', async () => {
  const { key, lost } = await keyed();
  await Promise.all(Array.from({ length: MOST_LOST_PINS + 1 }, (_, n) => key({ model: `gone${n % 3}` })));
  const { pins, total } = await lost(defined(), 1, 2);
  expect(pins).toHaveLength(2);
  expect(total).toBe(MOST_LOST_PINS);
});

test('each name in use is looked up in its index', onlyOnSqlite('its plans'), async () => {
  const { store, rows } = await keyed();
  const prepared = vi.spyOn(Connection.prototype, 'prepare');
  await store.pins.lost(defined(), 1, 1);
  const statements = prepared.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes('min('));
  prepared.mockRestore();
  const plans = statements.map((sql) => rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll('?', "''")}`));
  expect(plans.map((plan) => plan.map(({ detail }) => detail).join())).toEqual([
    'SEARCH api_keys USING INDEX api_keys_by_model (model>?)',
    'SEARCH api_keys USING INDEX api_keys_by_target (target>?)',
    'SEARCH users USING COVERING INDEX users_by_scenario (scenario>?)',
    'SEARCH scheduled_tasks USING COVERING INDEX scheduled_tasks_by_target (target>?)',
  ]);
});
