import { expect, test } from 'vitest';
import { makeAnsweredEndpoints } from '../../../src/execution/brief/answered-endpoints.ts';
import { grantModel } from '../../../src/execution/brief/resolve-model.ts';
import type { Endpoint } from '../../../src/catalog/kinds/models.ts';
import { openStore } from '../../support/store/open-store.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { GIVEN } from './resolved-model.ts';

const KEY = Buffer.alloc(32, 7);
const log = { warn: () => undefined } as never;

test('an endpoint that has answered has, also after a restart and at another node', async () => {
  const { store, file, clock, rows } = await storeFixture();
  const here = makeAnsweredEndpoints({ store, key: KEY, log });
  expect(await here.hasAnswered('a')).toBe(false);
  here.answered('a');
  here.answered('a');
  expect(await here.hasAnswered('a')).toBe(true);
  expect(await here.hasAnswered('b')).toBe(false);
  const kept = 'SELECT name FROM answered_endpoints';
  await waitFor(() => rows(kept).length === 1);
  expect(JSON.stringify(rows(kept))).not.toContain('"a"');
  const elsewhere = makeAnsweredEndpoints({ store, key: KEY, log });
  expect(await elsewhere.hasAnswered('a')).toBe(true);
  await store.close();
  const again = openStore(file, clock);
  expect(await makeAnsweredEndpoints({ store: again, key: KEY, log }).hasAnswered('a')).toBe(true);
  expect(await makeAnsweredEndpoints({ store: again, key: Buffer.alloc(32), log }).hasAnswered('a')).toBe(false);
  await again.close();
});

test('while the rows can not be read, calls have patience', async () => {
  const broken = () => Promise.reject(new Error('locked'));
  const store = { endpoints: { hasAnswered: broken, keepAnswered: broken } };
  const endpoints = makeAnsweredEndpoints({ store, key: KEY, log });
  expect(await endpoints.hasAnswered('a')).toBe(true);
  endpoints.answered('a');
});

test('the newest thousand are kept', async () => {
  const { store, rows } = await storeFixture();
  for (let at = 0; at < 1_003; at += 1) void store.endpoints.keepAnswered(`e${at}`);
  await store.endpoints.keepAnswered('last');
  expect(rows('SELECT name FROM answered_endpoints')).toHaveLength(1_000);
  expect(await store.endpoints.hasAnswered('e3')).toBe(false);
  expect(await store.endpoints.hasAnswered('e4')).toBe(true);
});

test('another address and another credential make another endpoint; another limit does not', () => {
  const { model, endpoint } = GIVEN.model;
  const named = (changes: Partial<Endpoint>) => grantModel({ model, endpoint: { ...endpoint, ...changes } }).configured;
  const same = named({});
  expect(named({ maxInFlight: 3 })).toBe(same);
  const header = { ...endpoint.extras, headers: { 'api-key': 'x' } };
  const others = [{ baseUrl: 'http://other.example/v1' }, { apiKey: 'another' }, { extras: header }].map(named);
  expect(new Set([same, ...others]).size).toBe(4);
});
