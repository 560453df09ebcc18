// How much is old: rows are counted in an index up to a limit, and what they take is estimated from the oldest of them.
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { type RunPart, runsFrom, valuesFrom } from './ended-runs.ts';

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
/** The payload of a piece of text. */
const TEXT_BYTES = 40;

interface Counted {
  readonly looked: number;
  readonly things: number;
}

interface Sample {
  readonly sampled: number;
  readonly rows: number;
  readonly bytes: number;
}

/** Of as many runs as are counted, those that are left. */
const countOf = (part: RunPart) =>
  `SELECT count(*) AS looked, count(CASE WHEN isLeft THEN 1 END) AS things FROM (${runsFrom(part)})`;
const leftOf = (part: RunPart) => `SELECT seq FROM (${runsFrom(part)}) WHERE isLeft LIMIT ${SAMPLE}`;

/** What a sample of the runs has of each part. */
const SAMPLES: Record<RunPart, string> = {
  // Text isn't read: the places of the others say how much there is.
  events: `SELECT count(*) AS sampled, coalesce(sum(rows), 0) AS rows,
      coalesce(sum(bytes + rows * ${EVENT_BYTES} + (rows - others) * ${TEXT_BYTES}), 0) AS bytes FROM (
    SELECT max(e.stream_seq) - min(e.stream_seq) + 1 AS rows, count(e.id) AS others, sum(octet_length(e.payload)) AS bytes
    FROM (${leftOf('events')}) AS old
      LEFT JOIN events e ON e.run_seq = old.seq AND e.type <> 'content_block_delta' GROUP BY old.seq) AS sums`,
  details: `SELECT count(*) AS sampled, coalesce(sum(rows), 0) AS rows, coalesce(sum(bytes), 0) AS bytes FROM (
    SELECT (SELECT count(*) FROM tool_calls c WHERE c.run_seq = old.seq)
      + (SELECT count(*) FROM steps t WHERE t.run_seq = old.seq AND t.message <> 'null') AS rows,
      (SELECT coalesce(sum(octet_length(input) + coalesce(octet_length(output), 0)), 0) FROM tool_calls c
       WHERE c.run_seq = old.seq)
      + (SELECT coalesce(sum(octet_length(message)), 0) FROM steps t WHERE t.run_seq = old.seq) AS bytes
    FROM (${leftOf('details')}) AS old)`,
};
const SESSION_EVENTS =
  'SELECT octet_length(payload) AS size FROM events WHERE run_seq IS NULL AND created_at < ? ORDER BY created_at LIMIT ?';

/** The verbs. */
export function makeEstimates({ read }: Database) {
  return {
    countEventsOfRuns: read((tx: Reader, before: number): Step<Amount> => estimateIn(tx, 'events', before)),

    countDetailsOfRuns: read((tx: Reader, before: number): Step<Amount> => estimateIn(tx, 'details', before)),

    countEventsOfSessions: read(function* (tx: Reader, before: number): Step<Amount> {
      const count = `SELECT count(*) AS things FROM (${SESSION_EVENTS})`;
      const { things } = (yield* tx.get<{ things: number }>(count, before, MAX_COUNTED))!;
      const sizes = yield* tx.all<{ size: number }>(SESSION_EVENTS, before, SAMPLE);
      const bytes = sizes.reduce((sum, { size }) => sum + size + EVENT_BYTES, 0);
      return scaled(things, { sampled: sizes.length, rows: sizes.length, bytes }, things === MAX_COUNTED);
    }),
  };
}

function* estimateIn(tx: Reader, part: RunPart, before: number): Step<Amount> {
  const values = [...(yield* valuesFrom(tx, part, before)), MAX_COUNTED];
  const { looked, things } = (yield* tx.get<Counted>(countOf(part), ...values))!;
  const isAtLeast = looked === MAX_COUNTED;
  if (things === 0) return { rows: 0, bytes: 0, isAtLeast };
  return scaled(things, (yield* tx.get<Sample>(SAMPLES[part], ...values))!, isAtLeast);
}

/** The amount of all things, if the others are like the sample. */
function scaled(things: number, { sampled, rows, bytes }: Sample, isAtLeast: boolean): Amount {
  const factor = sampled === 0 ? 0 : things / sampled;
  return {
    rows: Math.round(rows * factor),
    bytes: Math.round(bytes * factor),
    isAtLeast,
  };
}
