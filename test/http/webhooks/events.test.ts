// Events for who listens: how the query is read, and what the reply says.
import { beforeEach, expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import { WEBHOOK_EVENT_TYPES } from '../../../src/domain/webhooks/webhook.ts';
import type { ListenQuery } from '../../../src/operations/webhooks/listen.ts';
import { aUser, type Fixture, openFixture, send } from '../../support/http/http-fixture.ts';

const PATH = '/api/v1/webhook-events';
const EVENT = {
  id: 7,
  eventId: '0198c0de-0000-8000-8000-000000000001',
  eventType: 'session.failed',
  body: '{"a":1}',
} as const;
const WIRE = { id: 7, event_id: EVENT.eventId, event_type: 'session.failed', body: '{"a":1}' };

let fixture: Fixture;
let asked: ListenQuery[];
beforeEach(async () => {
  asked = [];
  const operations = {
    listenToEvents: async (_caller: unknown, query: ListenQuery) => {
      asked.push(query);
      return { events: [EVENT], nextAfterId: 9, hasMore: true };
    },
    getSampleEvent: async () => EVENT,
  };
  fixture = await openFixture({ operations });
});

const get = (query: string, as = 'token-of-user') => send(fixture, { path: `${PATH}${query}`, as });

test('without a query, every type is meant, from now on and at once', async () => {
  const { status, json } = await get('');
  expect([status, (json as { data: object }).data]).toEqual([200, { items: [WIRE], next_after_id: 9, has_more: true }]);
  expect(asked).toEqual([{ ownerScope: null, types: WEBHOOK_EVENT_TYPES, afterId: null, limit: 100, waitMs: 0 }]);
});

test('a query says which, after what, and how long to wait', async () => {
  await get('?after_id=0&event_type=session.stopped,session.failed&owner_scope=system&limit=1&wait_seconds=30');
  const types = ['session.failed', 'session.stopped'];
  expect(asked).toEqual([{ ownerScope: 'system', types, afterId: 0, limit: 1, waitMs: 30_000 }]);
});

test.each([
  'after_id=-1',
  'after_id=x',
  'event_type=',
  'event_type=session.failed,',
  'event_type=session.failed,session.failed',
  'event_type=session.failed,nothing',
  'owner_scope=all',
  'limit=101',
  'wait_seconds=31',
])('%s is refused', async (query) => {
  expect((await get(`?${query}`)).status).toBe(422);
  expect(asked).toEqual([]);
});

test.each(['', '/sample?event_type=session.failed'])('%s: a key of a program is refused', async (query) => {
  expect((await get(query, 'global-key')).status).toBe(403);
  expect((await get(query, 'nobody')).status).toBe(401);
});

test('who may no longer listen after a wait is sent nothing', async () => {
  let isDisabled = false;
  const listenToEvents = async () => {
    isDisabled = true;
    return { events: [EVENT], nextAfterId: 9, hasMore: false };
  };
  const authenticate = async () => {
    if (isDisabled) throw new ErrandError('forbidden', 'The user is disabled.');
    return { kind: 'token', user: aUser() } as const;
  };
  const fixture = await openFixture({ operations: { listenToEvents, authenticate } });
  const { status, json } = await send(fixture, { path: `${PATH}?wait_seconds=1`, as: 'token-of-user' });
  expect([status, (json as { data: unknown }).data]).toEqual([403, null]);
});

test('a sample has no place in the journal', async () => {
  const { id: _id, ...sample } = WIRE;
  const { json } = await get('/sample?event_type=session.failed');
  expect((json as { data: object }).data).toEqual(sample);
  expect((await get('/sample')).status).toBe(422);
});
