import { expect, test } from 'vitest';
import { openStore } from '../../support/store/open-store.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

test('a name gets its id at first sight and keeps it, whatever comes and goes', { tags: ['J4'] }, async () => {
  const { store } = await storeFixture();
  const { idsFor, namesOf } = store.definitionIds;
  const [tides, reefs] = await idsFor('skill', ['tides', 'reefs']);
  expect(await idsFor('skill', ['reefs', 'currents', 'tides'])).toEqual([reefs, expect.any(Number), tides]);
  expect(await namesOf('skill', [reefs!, tides!, 999])).toEqual(['reefs', 'tides', undefined]);
  expect(await namesOf('expert', [reefs!])).toEqual([undefined]);
});

test('the same name has another id among another kind', async () => {
  const { store } = await storeFixture();
  const [skill] = await store.definitionIds.idsFor('skill', ['tides']);
  const [expert] = await store.definitionIds.idsFor('expert', ['tides']);
  expect(expert).not.toBe(skill);
});

test('ids survive a restart, and so does the one of a name that is gone', async () => {
  const { store, file, clock } = await storeFixture();
  const before = await store.definitionIds.idsFor('mcp_server', ['files', 'wiki']);
  await store.close();
  const again = openStore(file, clock);
  const after = await again.definitionIds.idsFor('mcp_server', ['new', 'wiki']);
  expect(after[1]).toBe(before[1]);
  expect(before).not.toContain(after[0]);
  expect(await again.definitionIds.namesOf('mcp_server', before)).toEqual(['files', 'wiki']);
  await again.close();
});

test('two concurrent requests for a new name get one id', async () => {
  const { store, rows } = await storeFixture();
  const { idsFor } = store.definitionIds;
  const [[a], [b]] = await Promise.all([idsFor('plugin', ['office']), idsFor('plugin', ['office', 'office'])]);
  expect(a).toBe(b);
  expect(rows('SELECT * FROM definition_ids')).toHaveLength(1);
});
