// How pages of deliveries are read: from an index that has their filter and their order.
import Connection from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import type { DeliveryFilter } from '../../../src/store/webhooks/delivery-records.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

const ALL = { owner: null, webhookId: null, eventId: null, eventType: null, state: null, since: null, until: null };

test.each<[string, Partial<DeliveryFilter>]>([
  ['webhook_deliveries_by_time', {}],
  ['webhook_deliveries_by_owner', { owner: 1 }],
  ['webhook_deliveries_by_owner_state', { owner: 1, state: 'failed' }],
  ['webhook_deliveries_by_owner_type', { owner: 1, eventType: 'session.failed' }],
  ['webhook_deliveries_by_webhook_state', { webhookId: 1, state: 'failed' }],
  ['webhook_deliveries_by_state', { state: 'failed' }],
  ['webhook_deliveries_by_type', { eventType: 'session.failed' }],
])('%s has the page of %o, in its order', async (index, filter) => {
  const fixture = await storeFixture();
  const plans: string[] = [];
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: Connection.Database, sql) {
    if (sql.startsWith('SELECT d.*')) {
      const values = sql.match(/\?/g)!.map(() => null);
      const explain = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`) as unknown as Connection.Statement<null[]>;
      const lines = explain.all(...values) as { detail: string }[];
      plans.push(...lines.map(({ detail }) => detail));
    }
    return prepare.call(this, sql) as never;
  });
  await fixture.store.deliveries.list({ ...ALL, ...filter, limit: 9, offset: 0 }).finally(() => spy.mockRestore());
  const isRead = new RegExp(`^(SCAN|SEARCH) d USING INDEX ${index}( |$)`);
  expect(plans.filter((detail) => / d\b/.test(detail))).toEqual([expect.stringMatching(isRead)]);
  expect(plans.filter((detail) => detail.includes('TEMP B-TREE'))).toEqual([]);
});
