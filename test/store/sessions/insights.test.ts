// Insights in the store: kept once for each call, and moved on only as the table allows.
import { expect, test } from 'vitest';
import { INSIGHT_MOVES, INSIGHT_STATUSES, type InsightStatus } from '../../../src/domain/sessions/insight.ts';
import { fenceOf, type StoreHouse, storeHouse } from '../../support/store/store-house.ts';

const INSIGHT = { callId: 'call1', title: 'Salt', summary: 'It rusts.', priority: 'high' } as const;

async function reported(house: StoreHouse) {
  await house.accept();
  const [run] = await house.claim();
  return { run: run!, id: (await house.store.insights.report(fenceOf(run!), INSIGHT))! };
}

const eventsOf = (house: StoreHouse) => house.committed.filter(({ type }) => type === 'insight.status_changed');

test('a call reports one insight, however often it is made, and emits it once', async () => {
  const house = await storeHouse();
  const { run, id } = await reported(house);
  expect(await house.store.insights.report(fenceOf(run), { ...INSIGHT, title: 'Other' })).toBe(id);
  const second = await house.store.insights.report(fenceOf(run), { ...INSIGHT, callId: 'call2' });
  expect(second).not.toBe(id);
  expect(eventsOf(house)).toHaveLength(2);
  expect(eventsOf(house)[0]).toMatchObject({
    runSeq: null,
    streamSeq: null,
    payload: {
      runId: run.id,
      insightId: id,
      title: 'Salt',
      priority: 'high',
      status: 'new',
      previous: null,
      source: 'agent',
    },
  });
  const { items, total } = await house.store.insights.list({
    userSeq: house.user.seq,
    keySeq: null,
    sessionSeq: run.sessionSeq,
    status: 'new',
    limit: 9,
    offset: 0,
  });
  expect([total, items.map((item) => item.id)]).toEqual([2, [second, id]]);
  expect(await house.store.insights.find(id)).toMatchObject({ summary: 'It rusts.', runId: run.id, username: 'mara' });
});

test('a worker that lost its run reports nothing', async () => {
  const house = await storeHouse();
  const { run } = await reported(house);
  await house.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  expect(await house.store.insights.report(fenceOf(run), { ...INSIGHT, callId: 'late' })).toBeUndefined();
  expect(eventsOf(house)).toHaveLength(1);
});

const PATHS: Readonly<Record<InsightStatus, readonly InsightStatus[]>> = {
  new: [],
  acknowledged: ['acknowledged'],
  resolved: ['resolved'],
  dismissed: ['acknowledged', 'dismissed'],
};

test.each(INSIGHT_STATUSES.flatMap((from) => INSIGHT_STATUSES.map((to) => [from, to] as const)))(
  'from %s to %s',
  { tags: ['I3'] },
  async (from, to) => {
    const house = await storeHouse();
    const { id } = await reported(house);
    for (const status of PATHS[from]) expect(await house.store.insights.setStatus(id, status, 'user')).toBe(true);
    const before = eventsOf(house).length;
    house.clock.advance(1_000);
    const held = await house.store.insights.setStatus(id, to, 'api');
    expect(held).toBe(INSIGHT_MOVES[from].includes(to));
    const insight = await house.store.insights.find(id);
    expect(insight!.status).toBe(held ? to : from);
    expect(insight!.updatedAt === house.clock.now()).toBe(held);
    expect(eventsOf(house).slice(before)).toMatchObject(
      held ? [{ runSeq: null, payload: { insightId: id, previous: from, status: to, source: 'api' } }] : [],
    );
  },
);

test('of two moves at once one holds', async () => {
  const house = await storeHouse();
  const { id } = await reported(house);
  const held = await Promise.all(
    (['resolved', 'dismissed'] as const).map((status) => house.store.insights.setStatus(id, status, 'user')),
  );
  expect(held).toEqual([true, false]);
  expect(await house.store.insights.setStatus('0190f6a0-0000-7000-8000-000000000000', 'resolved', 'user')).toBe(false);
});

test('a deleted session shows no insights', async () => {
  const house = await storeHouse();
  const { run, id } = await reported(house);
  await house.store.sessions.deleteSession(run.sessionSeq);
  expect(await house.store.insights.find(id)).toBeUndefined();
});
