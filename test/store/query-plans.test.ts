import Connection from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { aStep, aTurn, BACKGROUND_ORDER, fenceOf, FREE, storeHouse } from '../support/store-house.ts';

/** Tables that grow for as long as the daemon is used. */
const GROWING = /^SCAN (runs|r|events|messages|m|sessions|s|steps|tool_calls|attachments|a)$/;

test('no statement of a turn reads a growing table from end to end', async () => {
  const statements = new Set<string>();
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: never, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql) as never;
  });
  const house = await storeHouse();
  const { runs } = house.store;
  const background = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9 } };
  await runs.accept({ ...aTurn(house.user, house.key), background, idempotencyKey: 'b' });
  await runs.expireQueued(1_000);
  const first = await house.accept({ idempotencyKey: 'a' });
  await house.accept({ sessionId: first.sessionId, idempotencyKey: 'c' });
  for (const run of await house.claim(3)) {
    const fence = fenceOf(run);
    await runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 0 } }]);
    await runs.recordStep(fence, aStep({ calls: [{ id: 'x', name: 'shell', input: {} }] }), FREE);
    const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: '', durationMs: 1 };
    await runs.recordToolResult(fence, result);
    await runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await runs.settle(fence);
    await runs.getOutcome(run.seq);
  }
  const claims = await runs.claim({ limit: 1, leaseMs: 1, background: BACKGROUND_ORDER, modelFor: () => 'm' });
  for (const { run } of claims) await runs.interrupt(fenceOf(run), 'crash');
  runs.anyClaimable();
  runs.oldestQueuedAt();
  await runs.renewLeases([1], 60_000);
  await runs.rescue();
  await runs.countUnfinished();
  await runs.find(first.id);
  await runs.findBackground(house.key.seq, 'b');
  await runs.queuePosition(first.seq);
  await house.store.turns.get(first.seq, 2);
  await house.store.turns.listBefore(first.sessionSeq, first.seq + 1, 1_000);
  await house.store.turns.nextBlockIndex(first.seq);
  await house.store.sessions.find(first.sessionId);
  await house.store.sessions.listMessages(first.sessionSeq);
  house.store.events.listOfRun(first.seq, 0, 10);
  spy.mockRestore();

  const connection = new Connection(house.file, { readonly: true });
  const scans = [...statements]
    .filter((sql) => /^\s*(SELECT|UPDATE|DELETE|WITH)/i.test(sql))
    .flatMap((sql) => {
      const parameters = Array.from({ length: sql.split('?').length - 1 }, () => null);
      const plan = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[];
      return plan.filter(({ detail }) => GROWING.test(detail)).map(({ detail }) => `${detail}: ${sql}`);
    });
  connection.close();
  expect(statements.size).toBeGreaterThan(30);
  expect(scans).toEqual([]);
});
