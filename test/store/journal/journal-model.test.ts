// The journal against a model of it, the table itself: whatever runs do, each page has the events of its range, in order.
import { expect, test } from 'vitest';
import type { NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import type { EventRange } from '../../../src/store/journal/pages.ts';
import type { Progress } from '../../../src/store/runs/fence.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';

interface Row {
  readonly id: number;
  readonly sessionSeq: number;
  readonly runSeq: number | null;
  readonly streamSeq: number | null;
}

/** A run with a worker, the block that it has open, and the number of its next block or step. */
interface Live {
  readonly fence: Progress;
  open: boolean;
  next: number;
}

const COMPLETED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;
const ROWS = 'SELECT id, session_seq AS sessionSeq, run_seq AS runSeq, stream_seq AS streamSeq FROM events ORDER BY id';

/** Numbers below a limit, the same ones for a seed. */
function numbersOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** Does one thing after another, as the numbers say: `act` for some run or session, `check` for all. */
async function busyFixture(seed: number) {
  const fixture = await storeFixture();
  const { runs, events, teams } = fixture.store;
  const number = numbersOf(seed);
  const [sessions, ids, live] = [new Map<number, string>(), new Map<number, string>(), new Map<number, Live>()];
  const oneOf = <T>(some: readonly T[]) => some[number(some.length)];
  const rows = () => fixture.rows<Row>(ROWS);
  await teams.create({ name: 'taken', budgetUsd: null });

  async function accept(sessionId: string | null) {
    const run = await fixture.accept({ sessionId });
    sessions.set(run.sessionSeq, run.sessionId);
    ids.set(run.seq, run.id);
  }

  async function stream(run: Live) {
    const said: NewEvent[] = [];
    for (let left = 1 + number(4); left > 0; left -= 1) {
      const payload = { index: run.next };
      if (!run.open) said.push({ type: 'content_block_start', payload });
      else if (number(4) === 0) said.push({ type: 'content_block_stop', payload });
      else
        for (let pieces = 1 + number(number(9) === 0 ? 150 : 5); pieces > 0; pieces -= 1)
          said.push({ type: 'content_block_delta', payload: { ...payload, text: 'x' } });
      const last = said.at(-1)!.type;
      run.open = last !== 'content_block_stop';
      run.next += Number(!run.open);
    }
    const streamed = runs.appendStream(run.fence, said);
    // A verb that throws has those before it run again.
    await Promise.allSettled([
      streamed,
      ...(number(4) === 0 ? [teams.create({ name: 'taken', budgetUsd: null })] : []),
    ]);
  }

  const leave = (run: Live, end: Promise<unknown>) => (live.delete(run.fence.runSeq), end);
  const withRun: readonly ((run: Live) => Promise<unknown>)[] = [
    stream,
    stream,
    stream,
    async (run) => {
      run.next += 1;
      if (!run.open) await runs.recordStep(run.fence, aStep({ step: run.next }), FREE);
    },
    (run) => leave(run, runs.interrupt(run.fence, 'drain')),
    (run) => leave(run, runs.end(run.fence, COMPLETED, { untouched: true })),
    (run) =>
      leave(
        run,
        runs.stopRun(run.fence, 'user_requested_stop').then(() => runs.confirmStop(run.fence.sessionSeq)),
      ),
  ];
  const beside: readonly (() => Promise<unknown>)[] = [
    async () => accept(sessions.size < 3 ? null : oneOf([...sessions.values()])!),
    async () => {
      for (const run of await fixture.claim(2))
        live.set(run.seq, { fence: fenceOf(run), open: false, next: run.attempt * 1_000 });
    },
    // As if others had written meanwhile.
    async () => {
      const id = rows().at(-1)!.id + oneOf([2, 600, 90_000])!;
      fixture.change(`INSERT INTO events (id, session_seq, type, payload, created_at) VALUES (${id}, 1, 'x', '{}', 0)`);
    },
  ];

  async function act() {
    const run = oneOf([...live.values()]);
    if (run === undefined || number(3) === 0) await oneOf(beside)!();
    else await oneOf(withRun)!(run);
  }

  /** The range of a page, and what it has of some events. */
  function pageOf(own: readonly Row[]) {
    const around = () => (oneOf(own)?.id ?? 0) + number(2);
    const order = number(2) === 0 ? 'asc' : 'desc';
    const [afterId, beforeId] = [number(3) === 0 ? 0 : around(), number(2) === 0 ? null : around()];
    const range: EventRange = { afterId, beforeId, order, limit: oneOf([1, 3, 100, 101, 500])! };
    const found = own.map(({ id }) => id).filter((id) => id > afterId && (beforeId === null || id < beforeId));
    return { range, expected: (order === 'asc' ? found : found.toReversed()).slice(0, range.limit) };
  }

  async function check() {
    const all = rows();
    for (const [runSeq, id] of ids) {
      const own = all.filter((row) => row.runSeq === runSeq);
      expect(own.map(({ streamSeq }) => streamSeq)).toEqual(own.map((_, at) => at + 1));
      const fromStreamSeq = number(own.length + 3);
      const { range, expected } = pageOf(own.filter(({ streamSeq }) => streamSeq! >= fromStreamSeq));
      const { events: page } = await events.listOfRunInSession({ seq: runSeq, id }, { range, fromStreamSeq });
      expect(
        page.map(({ event }) => event.id),
        JSON.stringify({ range, fromStreamSeq }),
      ).toEqual(expected);
    }
    for (const sessionSeq of sessions.keys()) {
      const own = all.filter((row) => row.sessionSeq === sessionSeq);
      const { range, expected } = pageOf(own);
      const { events: page } = await events.listOfSession(sessionSeq, range);
      expect(
        page.map(({ event }) => event.id),
        JSON.stringify(range),
      ).toEqual(expected);
      expect(await events.newestId(sessionSeq)).toBe(own.at(-1)!.id);
    }
  }

  return { accept, act, check };
}

test.each([1, 2, 3, 4])('whatever runs do, each page has the events of its range: %s', async (seed) => {
  const { accept, act, check } = await busyFixture(seed);
  for (let sessions = 0; sessions < 3; sessions += 1) await accept(null);
  for (let acts = 1; acts <= 80; acts += 1) {
    await act();
    if (acts % 4 === 0) await check();
  }
});
