// Finds the session that a client goes on with, by what it calls it or by what it resends of it (M1).
import type { Link, Resent } from '../../domain/sessions/continued/history-chain.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';

/** A session that may be continued, and its newest run. */
export interface Continuable {
  readonly sessionId: string;
  readonly isBusy: boolean;
  readonly idempotencyKey: string | null;
  /** Whether that run's request opened the session. */
  readonly opened: boolean;
}

/** What is known of a client's conversation; each is null where nothing is found. */
export interface FoundContinuation {
  readonly named: Continuable | null;
  /** `runSeq`: the run whose answer is the last of what is known of it; `after`: how many messages were resent after that. */
  readonly resent: (Continuable & { readonly runSeq: number; readonly after: number }) | null;
}

const NAMED = `SELECT seq FROM sessions WHERE key_seq = ? AND client_name = ? AND deleted_at IS NULL ORDER BY seq DESC LIMIT 1`;
// Past those whose session is deleted, but not past many: a link may be that of very many runs.
const after = (column: 'history_answered' | 'history_streamed') =>
  `SELECT latest.seq, latest.session_seq
   FROM (SELECT seq, session_seq FROM runs WHERE key_seq = ? AND ${column} = ? ORDER BY seq DESC LIMIT 64) AS latest
   CROSS JOIN sessions s ON s.seq = latest.session_seq
   WHERE s.deleted_at IS NULL ORDER BY latest.seq DESC LIMIT 1`;
const AFTER = `SELECT seq, session_seq FROM (
    SELECT * FROM (${after('history_answered')}) AS latest UNION ALL SELECT * FROM (${after('history_streamed')}) AS latest
  ) AS found ORDER BY seq DESC LIMIT 1`;
const CONTINUABLE = `SELECT s.id AS sessionId, r.finished_at IS NULL AS isBusy, r.idempotency_key AS idempotencyKey,
    r.opened_session AS opened
  FROM sessions s JOIN runs r ON r.seq = (SELECT seq FROM runs WHERE session_seq = s.seq ORDER BY seq DESC LIMIT 1)
  WHERE s.seq = ? AND s.deleted_at IS NULL`;

type ContinuableRow = Omit<Continuable, 'isBusy' | 'opened'> & { readonly isBusy: number; readonly opened: number };

/** The verb. Each look-up takes a few rows of an index. */
export function makeContinuedSessions({ read }: Database) {
  return {
    /**
     * `name`: what the client calls the conversation. `resent`: all that it resends, then beginnings, the longest first; each under that name and
     * then without one, as of a conversation that had none yet.
     */
    findContinued: read(function* (
      tx: Reader,
      keySeq: number,
      name: string | null,
      resent: readonly Resent[],
    ): Step<FoundContinuation> {
      const seq = name === null ? undefined : (yield* tx.get<{ seq: number }>(NAMED, keySeq, name))?.seq;
      const named = seq === undefined ? null : yield* continuable(tx, seq);
      for (const { links, after } of resent) {
        let run: RunRow | undefined;
        for (const link of named === null ? links : links.slice(0, 1)) run ??= yield* newestAfter(tx, keySeq, link);
        const found = run === undefined ? null : yield* continuable(tx, run.sessionSeq);
        if (found !== null) return { named, resent: { ...found, runSeq: run!.seq, after } };
      }
      return { named, resent: null };
    }, 'committed'),
  };
}

interface RunRow {
  readonly seq: number;
  readonly sessionSeq: number;
}

function* newestAfter(tx: Reader, keySeq: number, link: Link): Step<RunRow | undefined> {
  return yield* tx.get<RunRow>(AFTER, keySeq, link, keySeq, link);
}

function* continuable(tx: Reader, sessionSeq: number): Step<Continuable | null> {
  const row = yield* tx.get<ContinuableRow>(CONTINUABLE, sessionSeq);
  return row === undefined ? null : { ...row, isBusy: row.isBusy === 1, opened: row.opened === 1 };
}
