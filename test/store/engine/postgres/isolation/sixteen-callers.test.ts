// Sixteen callers at once on one store, or on those of several processes in turns: what may happen once happens once, limits hold, and sums are those of their parts.
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { IS_EXECUTING } from '../../../../../src/store/runs/run-states.ts';
import { openProcesses } from '../../../../support/postgres/processes.ts';
import { aTask, COMPLETED, fireNow } from '../../../../support/store/schedules.ts';
import {
  aSpentCall,
  aStep,
  aTurn,
  BACKGROUND_CLAIM,
  fenceOf,
  FREE,
  START,
  type StoreFixture,
  storeFixture,
} from '../../../../support/store/store-fixture.ts';
import { aWebhook } from '../../../../support/store/webhooks.ts';

const CALLERS = 16;
const atOnce = <Result>(call: (caller: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
const countOf = (kinds: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => [kind, all.length]));

const USAGE = { inputTokens: 900, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** With a budget of the user, of so many tokens. */
async function budgeted(limit: number, openFixture = storeFixture): Promise<StoreFixture> {
  const fixture = await openFixture();
  const terms = { subject: 'user', unit: 'tokens', period: 'month', timeZone: 'UTC', limit } as const;
  const payer = { keySeq: null, userSeq: fixture.user.seq, teamId: null };
  await fixture.store.budgets.set({ ...terms, payer }, fixture.clock.now);
  return fixture;
}

describe.each([1, 3])('in %i processes', (processes) => {
  const openFixture = () =>
    processes === 1
      ? storeFixture()
      : storeFixture(undefined, {}, (file, clock) => openProcesses(file, clock, processes));

  test('turns with one idempotency key make one run', async () => {
    const { store, user, key } = await openFixture();
    const accepted = await atOnce(() => store.runs.accept({ ...aTurn(user, key), idempotencyKey: 'k', start: START }));
    expect(countOf(accepted.map(({ kind }) => kind))).toEqual({ accepted: 1, replayed: 15 });
    expect(new Set(accepted.map((one) => ('run' in one ? one.run.id : ''))).size).toBe(1);
  });

  test('background turns are admitted up to the limit', async () => {
    const { store, user, key } = await openFixture();
    const background = { payload: null, limits: { maxUnfinishedPerKey: 3, maxUnfinishedPerUser: 9, capacity: 5 } };
    const accepted = await atOnce(() => store.runs.accept({ ...aTurn(user, key), background }));
    expect(countOf(accepted.map(({ kind }) => kind))).toEqual({ accepted: 3, key_limit: 13 });
  });

  test('each waiting run is claimed once, and one of a session at a time', async () => {
    const fixture = await openFixture();
    const { store, user, key } = fixture;
    const first = await fixture.accept();
    const { sessionId, sessionSeq } = first;
    const behind = { ...aTurn(user, key), sessionId, sessionSeq };
    await atOnce((caller) => store.runs.accept(caller < 6 ? aTurn(user, key) : behind));
    const claims = await atOnce(() => store.runs.claim({ ...START, limit: 2, background: BACKGROUND_CLAIM }));
    const runs = claims.flat().map(({ run }) => run);
    expect(runs.map(({ seq }) => seq).toSorted((a, b) => a - b)).toEqual(
      [...new Set(runs.map(({ seq }) => seq))].toSorted((a, b) => a - b),
    );
    expect(runs).toHaveLength(7);
    expect(runs.filter((run) => run.sessionSeq === sessionSeq)).toMatchObject([{ seq: first.seq }]);
  });

  test('a run ends once, whatever reaches it', async () => {
    const fixture = await openFixture();
    const { runs } = fixture.store;
    for (let round = 0; round < 8; round += 1) {
      await fixture.accept();
      const [run] = await fixture.claim();
      const fence = fenceOf(run!);
      const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 60_000 };
      const calls = [
        () => runs.end(fence, COMPLETED),
        () => runs.finalize(fence, COMPLETED),
        () => runs.settle(fence),
        () => runs.stopRun({ sessionSeq: fence.sessionSeq, runSeq: fence.runSeq }, 'user_requested_stop'),
        () => runs.stopSession(fence.sessionSeq, 'user_requested_stop'),
        () => runs.waitForUser(fence, question),
        () => runs.interrupt(fence, 'drain'),
        () => runs.recordStep(fence, aStep(), FREE),
      ];
      // Each round another one comes first.
      await atOnce((caller) => calls[(caller + round) % calls.length]!() as Promise<unknown>);
      const ends = fixture.committed.filter(
        ({ runSeq, type }) => runSeq === fence.runSeq && /^run\.(done|failed|stopped)$/.test(type),
      );
      expect(ends).toHaveLength(1);
      expect(fixture.rows(`SELECT seq FROM runs WHERE seq = ${fence.runSeq} AND finished_at IS NULL`)).toEqual([]);
      // What was written behind the end belongs to no run.
      expect(fixture.committed.findLast(({ runSeq }) => runSeq === fence.runSeq)!.type).toBe(ends[0]!.type);
    }
  });

  test('a task that skips overlaps is fired once', async () => {
    const fixture = await openFixture();
    const task = await fixture.store.schedules.create(aTask(fixture.user.seq));
    const fired = await atOnce(() => fireNow(fixture, task));
    expect(countOf(fired.map(({ kind }) => kind))).toEqual({ fired: 1, busy: 15 });
  });

  test('each event is planned once', async () => {
    const fixture = await openFixture();
    const { id } = await fixture.store.webhooks.create(aWebhook());
    await atOnce(async () => {
      const run = await fixture.accept();
      await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
      await fixture.store.deliveries.plan();
    });
    await fixture.store.deliveries.plan();
    expect(await fixture.store.deliveries.listPending(id, 99)).toHaveLength(CALLERS);
  });

  test('sums are those of their parts, and the journal has everything once and in order', async () => {
    const fixture = await budgeted(1_000_000, openFixture);
    const { store, user, key } = fixture;
    const { runs } = store;
    await atOnce(async (caller) => {
      let session: { readonly sessionId: string; readonly sessionSeq: number } | null = null;
      for (let turn = 0; turn < 4; turn += 1) {
        const accepted = await runs.accept({ ...aTurn(user, key), ...session, start: START });
        if (accepted.kind !== 'accepted' || accepted.claim === null) throw new Error(accepted.kind);
        const { run } = accepted.claim;
        session = run;
        const fence = fenceOf(run);
        await runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 0 } }]);
        await Promise.all([
          runs.appendStream(fence, [{ type: 'content_block_delta', payload: { index: 0, text: 'The ' } }]),
          runs.appendStream(fence, [{ type: 'content_block_delta', payload: { index: 0, text: 'moon' } }]),
          runs.recordSpent(fence, aSpentCall(), FREE),
        ]);
        await runs.recordStep(fence, aStep({ step: 1, calls: [{ id: 'x', name: 'shell', input: {} }] }), FREE);
        if (caller % 4 === turn)
          await runs.stopRun({ sessionSeq: fence.sessionSeq, runSeq: fence.runSeq }, 'user_requested_stop');
        await runs.recordToolResult(fence, {
          step: 1,
          toolUseId: 'x',
          name: 'shell',
          ok: true,
          output: '',
          durationMs: 1,
        });
        await runs.end(fence, COMPLETED);
        await runs.confirmStop(fence.sessionSeq);
      }
    });
    const { rows } = fixture;
    const tokens = 'input_tokens + output_tokens';
    const spent = CALLERS * 4 * 2 * 14;
    for (const sum of [
      `sum(${tokens}) AS n FROM usage_records`,
      `sum(${tokens}) AS n FROM runs`,
      `sum(${tokens}) AS n FROM session_totals`,
      'sum(tokens) AS n FROM usage_quarters',
      'sum(spent) AS n FROM budget_periods',
    ])
      expect(rows(`SELECT ${sum}`), sum).toEqual([{ n: spent }]);
    expect(rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: CALLERS * 4 }]);
    expect(rows(`SELECT seq FROM runs WHERE ${IS_EXECUTING}`)).toEqual([]);
    expect(
      rows(
        'SELECT min(run_count) AS least, max(run_count) AS most, min(message_count) AS messages FROM session_totals',
      ),
    ).toEqual([{ least: 4, most: 4, messages: expect.any(Number) }]);
    // The places in each run have no gap.
    const gaps = 'SELECT run_seq FROM events WHERE run_seq IS NOT NULL GROUP BY run_seq';
    expect(rows(`${gaps} HAVING max(stream_seq) <> count(*) OR count(DISTINCT stream_seq) <> count(*)`)).toEqual([]);
    const ids = rows<{ id: number }>('SELECT id FROM events ORDER BY id').map(({ id }) => id);
    expect(fixture.committed.map(({ id }) => id)).toEqual(ids);
  });

  test('calls are granted up to the limit of a budget', async () => {
    const fixture = await budgeted(3_000, openFixture);
    const { store, clock } = fixture;
    await atOnce(() => fixture.accept());
    const fences = (await fixture.claim(CALLERS)).map((run) => fenceOf(run));
    const order = { now: clock.now(), awaited: new Set<number>() };
    const call = { most: { tokens: 1_000, usd: 0 }, prompt: { model: 'm', inputTokens: 1, costUsd: 0 } };
    const reserved = await atOnce(async (caller) => {
      const ask = async () => (await store.budgets.reserve([{ ...fences[caller]!, ...call }], order))[0]!;
      let reservation = await ask();
      // What others hold back may become free again.
      for (let again = 0; reservation.kind === 'wait' && again < 1_000; again += 1)
        reservation = await setTimeout(5).then(ask);
      // The others still ask.
      if (reservation.kind === 'granted') {
        await store.runs.recordSpent(fences[caller]!, aSpentCall(USAGE), FREE);
        if (reservation.held !== null) store.budgets.release(reservation.held);
      }
      return reservation.kind;
    });
    expect(reserved.filter((kind) => kind === 'granted')).toHaveLength(3);
    expect(fixture.rows('SELECT spent FROM budget_periods')).toEqual([{ spent: 3_000 }]);
    expect(fixture.rows('SELECT run_seq FROM calls_in_progress')).toEqual([]);
  });
});
