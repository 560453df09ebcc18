// Insights in the store: kept once for each call, and moved on only as the table allows.
import { expect, test } from 'vitest';
import { INSIGHT_MOVES, INSIGHT_STATUSES, type InsightStatus } from '../../../src/domain/sessions/insight.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const INSIGHT = { callId: 'call1', title: 'Salt', summary: 'It rusts.', priority: 'high' } as const;

async function reported(fixture: StoreFixture) {
  await fixture.accept();
  const [run] = await fixture.claim();
  return { run: run!, id: (await fixture.store.insights.report(fenceOf(run!), INSIGHT))! };
}

const eventsOf = (fixture: StoreFixture) => fixture.committed.filter(({ type }) => type === 'insight.status_changed');

test('a call reports one insight, however often it is made, and emits it once', async () => {
  const fixture = await storeFixture();
  const { run, id } = await reported(fixture);
  expect(await fixture.store.insights.report(fenceOf(run), { ...INSIGHT, title: 'Other' })).toBe(id);
  const second = await fixture.store.insights.report(fenceOf(run), { ...INSIGHT, callId: 'call2' });
  expect(second).not.toBe(id);
  expect(eventsOf(fixture)).toHaveLength(2);
  expect(eventsOf(fixture)[0]).toMatchObject({
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
  const { items, total } = await fixture.store.insights.list({
    userSeq: fixture.user.seq,
    keySeq: null,
    sessionSeq: run.sessionSeq,
    status: 'new',
    limit: 9,
    offset: 0,
  });
  expect([total, items.map((item) => item.id)]).toEqual([2, [second, id]]);
  expect(await fixture.store.insights.find(id)).toMatchObject({
    summary: 'It rusts.',
    runId: run.id,
    username: 'mara',
  });
});

test('a worker that lost its run reports nothing', async () => {
  const fixture = await storeFixture();
  const { run } = await reported(fixture);
  await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  expect(await fixture.store.insights.report(fenceOf(run), { ...INSIGHT, callId: 'late' })).toBeUndefined();
  expect(eventsOf(fixture)).toHaveLength(1);
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
    const fixture = await storeFixture();
    const { id } = await reported(fixture);
    for (const status of PATHS[from]) expect(await fixture.store.insights.setStatus(id, status, 'user')).toBe(true);
    const before = eventsOf(fixture).length;
    fixture.clock.advance(1_000);
    const held = await fixture.store.insights.setStatus(id, to, 'api');
    expect(held).toBe(INSIGHT_MOVES[from].includes(to));
    const insight = await fixture.store.insights.find(id);
    expect(insight!.status).toBe(held ? to : from);
    expect(insight!.updatedAt === fixture.clock.now()).toBe(held);
    expect(eventsOf(fixture).slice(before)).toMatchObject(
      held ? [{ runSeq: null, payload: { insightId: id, previous: from, status: to, source: 'api' } }] : [],
    );
  },
);

test('of two moves at once one holds', async () => {
  const fixture = await storeFixture();
  const { id } = await reported(fixture);
  const held = await Promise.all(
    (['resolved', 'dismissed'] as const).map((status) => fixture.store.insights.setStatus(id, status, 'user')),
  );
  expect(held).toEqual([true, false]);
  expect(await fixture.store.insights.setStatus('0190f6a0-0000-7000-8000-000000000000', 'resolved', 'user')).toBe(
    false,
  );
});

test('a deleted session shows no insights', async () => {
  const fixture = await storeFixture();
  const { run, id } = await reported(fixture);
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  expect(await fixture.store.insights.find(id)).toBeUndefined();
});
