// Whose conversation a fork begins with: runs of other sessions, which it reads where they are (M2).
import { listed } from '../engine/listed.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** Runs of another session that a fork begins with, up to one of them; those before them are in the next one. */
export interface Origin {
  readonly fromSession: number;
  readonly untilRun: number;
  /** The newest message of them. */
  readonly untilMessage: number;
}

/** A chain of forks of forks goes back so far; what is older is left out. */
export const MOST_ORIGINS = 1_000;

/** What a session begins with, the nearest first; nothing unless it is a fork. */
export function* originsOf(tx: Reader, sessionSeq: number): Step<Origin[]> {
  return yield* tx.all<Origin>(
    'SELECT from_session, until_run, until_message FROM session_origins WHERE session_seq = ? ORDER BY position',
    sessionSeq,
  );
}

/** Writes what a session begins with. */
export function* keepOrigins(tx: Transaction, sessionSeq: number, origins: readonly Origin[]): Step<void> {
  for (const [position, { fromSession, untilRun, untilMessage }] of origins.slice(0, MOST_ORIGINS).entries())
    yield* tx.run(
      'INSERT INTO session_origins (session_seq, position, from_session, until_run, until_message) VALUES (?, ?, ?, ?, ?)',
      sessionSeq,
      position,
      fromSession,
      untilRun,
      untilMessage,
    );
}

/** The last run of a session that forks have of it, in SQL; 0 when they have none. Their texts stay when the session is deleted. */
export const lastHeld = (sessionSeq: string): string =>
  `coalesce((SELECT max(until_run) FROM session_origins o WHERE o.from_session = ${sessionSeq}), 0)`;

/** A deleted fork needs nothing any more. Deleted sessions that it has held have to be cleaned up once more. */
export function* releaseOrigins(tx: Transaction, sessionSeq: number): Step<void> {
  const released = yield* tx.all<{ fromSession: number }>(
    'DELETE FROM session_origins WHERE session_seq = ? RETURNING from_session',
    sessionSeq,
  );
  const sessions = [...new Set(released.map(({ fromSession }) => fromSession))];
  for (let at = 0; at < sessions.length; at += LISTED) {
    const { marks, values } = listed(sessions.slice(at, at + LISTED));
    yield* tx.run(
      `INSERT INTO cleanups (session_seq, created_at)
       SELECT seq, ? FROM sessions WHERE seq IN (${marks}) AND deleted_at IS NOT NULL ON CONFLICT DO NOTHING`,
      tx.now,
      ...values,
    );
  }
}

const LISTED = 64;

/** A page of the runs of a session, newest first: those before a run, and from another one on. */
interface RunPage {
  readonly sessionSeq: number;
  readonly before: number;
  readonly from: number;
  readonly limit: number;
}

/** Reads a page that a session's own runs, and those that it begins with, have together. Numbers of runs fall from one part to the next. */
export function* acrossOrigins<Row, Place extends RunPage>(
  tx: Reader,
  place: Place,
  read: (tx: Reader, part: Place) => Step<Row[]>,
): Step<Row[]> {
  const rows = yield* read(tx, place);
  if (rows.length === place.limit) return rows;
  const origins = yield* originsOf(tx, place.sessionSeq);
  for (const [at, { fromSession, untilRun }] of origins.entries()) {
    if (rows.length === place.limit || untilRun < place.from) break;
    const before = Math.min(place.before, untilRun + 1);
    // Of those that come after a page, none is in it.
    if (before <= (origins[at + 1]?.untilRun ?? 0) + 1) continue;
    const part = { ...place, sessionSeq: fromSession, before, limit: place.limit - rows.length };
    rows.push(...(yield* read(tx, part)));
  }
  return rows;
}

/** Messages of a part: of a session, by their ids, of runs up to one. */
export interface MessageRange {
  readonly sessionSeq: number;
  readonly from: number;
  readonly to: number;
  readonly untilRun: number;
}

const ANY = Number.MAX_SAFE_INTEGER;

/** Where messages of a session with ids from one to another are, oldest first: ids rise from one part to the next. */
export function* messageRanges(tx: Reader, sessionSeq: number, from: number, to = ANY): Step<MessageRange[]> {
  const origins = (yield* originsOf(tx, sessionSeq)).filter(({ untilMessage }) => untilMessage >= from).toReversed();
  const ranges = origins.map(({ fromSession, untilRun, untilMessage }) => ({
    sessionSeq: fromSession,
    from,
    to: Math.min(to, untilMessage),
    untilRun,
  }));
  return [...ranges, { sessionSeq, from, to, untilRun: ANY }];
}
