// How much is old: rows are counted in an index up to a limit, and what they take is estimated from the oldest of them.
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';

/** What would be removed. Both numbers are estimates where the rows differ; `isAtLeast`: counting has ended at its limit. */
export interface Amount {
  readonly rows: number;
  readonly bytes: number;
  readonly isAtLeast: boolean;
}

/** Things are counted up to this number. */
export const MAX_COUNTED = 10_000;
/** Runs that the size of the others is estimated by. */
const SAMPLE = 10;
/** What a row of the journal takes beside its payload, with its index entries. */
const EVENT_BYTES = 80;

interface Counted {
  readonly things: number;
}

interface Sample {
  readonly sampled: number;
  readonly rows: number;
  readonly bytes: number;
}

const oldRuns = (kept: string, limit: string) => `SELECT seq FROM runs WHERE finished_at < ? AND finished_at IS NOT NULL
  AND ${kept} IS NULL ORDER BY finished_at LIMIT ${limit}`;
const countOf = (what: string) => `SELECT count(*) AS things FROM (${what})`;

const EVENTS = oldRuns('events_removed_at', '?');
const EVENTS_SAMPLE = `SELECT count(DISTINCT old.seq) AS sampled, count(e.id) AS rows,
    coalesce(sum(octet_length(e.payload) + ${EVENT_BYTES}), 0) AS bytes
  FROM (${EVENTS}) AS old LEFT JOIN events e ON e.run_seq = old.seq`;
const DETAILS = oldRuns('details_removed_at', '?');
const DETAILS_SAMPLE = `SELECT count(*) AS sampled, coalesce(sum(rows), 0) AS rows, coalesce(sum(bytes), 0) AS bytes FROM (
    SELECT (SELECT count(*) FROM tool_calls c WHERE c.run_seq = old.seq)
      + (SELECT count(*) FROM steps t WHERE t.run_seq = old.seq AND t.message <> 'null') AS rows,
      (SELECT coalesce(sum(octet_length(input) + coalesce(octet_length(output), 0)), 0) FROM tool_calls c
       WHERE c.run_seq = old.seq)
      + (SELECT coalesce(sum(octet_length(message)), 0) FROM steps t WHERE t.run_seq = old.seq) AS bytes
    FROM (${DETAILS}) AS old)`;
const SESSION_EVENTS =
  'SELECT octet_length(payload) AS size FROM events WHERE run_seq IS NULL AND created_at < ? ORDER BY created_at LIMIT ?';

/** The verbs. */
export function makeEstimates({ read }: Database) {
  return {
    countEventsOfRuns: read(
      (tx: Reader, before: number): Step<Amount> =>
        estimateIn(tx, before, { count: countOf(EVENTS), sample: EVENTS_SAMPLE }),
    ),

    countDetailsOfRuns: read(
      (tx: Reader, before: number): Step<Amount> =>
        estimateIn(tx, before, { count: countOf(DETAILS), sample: DETAILS_SAMPLE }),
    ),

    countEventsOfSessions: read(function* (tx: Reader, before: number): Step<Amount> {
      const { things } = (yield* tx.get<Counted>(countOf(SESSION_EVENTS), before, MAX_COUNTED))!;
      const sizes = yield* tx.all<{ size: number }>(SESSION_EVENTS, before, SAMPLE);
      const bytes = sizes.reduce((sum, { size }) => sum + size + EVENT_BYTES, 0);
      return scaled(things, { sampled: sizes.length, rows: sizes.length, bytes });
    }),
  };
}

function* estimateIn(
  tx: Reader,
  before: number,
  { count, sample }: { readonly count: string; readonly sample: string },
): Step<Amount> {
  const { things } = (yield* tx.get<Counted>(count, before, MAX_COUNTED))!;
  if (things === 0) return { rows: 0, bytes: 0, isAtLeast: false };
  return scaled(things, (yield* tx.get<Sample>(sample, before, SAMPLE))!);
}

/** The amount of all things, if the others are like the sample. */
function scaled(things: number, { sampled, rows, bytes }: Sample): Amount {
  const factor = sampled === 0 ? 0 : things / sampled;
  return {
    rows: Math.round(rows * factor),
    bytes: Math.round(bytes * factor),
    isAtLeast: things === MAX_COUNTED,
  };
}
