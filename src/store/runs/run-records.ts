// Runs with the names of their owners and keys, found and listed.
import type { Listing, Page } from '../../domain/listing.ts';
import { FAILED, isTerminal, type Run, type RunStatus } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { plain, rowKind } from '../engine/row.ts';
import { RUN, RUN_COLUMNS } from '../rows.ts';
import { conditions, fromNearerEnd } from '../engine/lists.ts';
import { HAS_FAILED, IS_ENDED, IS_UNFINISHED, isReportedAs } from './run-states.ts';

/** A run with the names of its owner and key. */
export interface RunRecord extends Run {
  readonly userId: string;
  readonly username: string;
  /** Null for a run of a scheduled task. */
  readonly keyId: string | null;
  /** The beginning of what it was asked; its session's title where that has no words. */
  readonly title: string;
}

/** Null means no filter. */
export interface RunFilter extends Page {
  readonly sessionSeq: number | null;
  readonly status: RunStatus | null;
}

const RECORD = rowKind<RunRecord>({ ...RUN.fields, userId: plain, username: plain, keyId: plain, title: plain });

const RUNS = `SELECT ${RUN_COLUMNS}, u.id AS user_id, u.username, k.id AS key_id,
    coalesce(nullif(m.text_preview, ''), s.title) AS title
  FROM runs r JOIN sessions s ON s.seq = r.session_seq JOIN users u ON u.seq = r.user_seq
  LEFT JOIN api_keys k ON k.seq = r.key_seq LEFT JOIN messages m ON m.run_seq = r.seq AND m.role = 'user'`;

/** The look-ups. Runs of deleted sessions are left out. */
export function makeRunRecords({ read }: Database) {
  return {
    /** A run by its id, or undefined. */
    find: read(function* (tx: Reader, id: string): Step<RunRecord | undefined> {
      return yield* tx.rows(RECORD).get(`${RUNS} WHERE r.id = ? AND s.deleted_at IS NULL`, id);
    }),

    /** Runs, the newest first. */
    list: read(listRuns),
  };
}

/** Counts all runs, or those that ended in one way, and the hidden ones of deleted sessions: no look at the session of each. */
function countAll(status: RunStatus | null): string {
  const isAsked = status === null ? [] : [`r.${IS_ENDED}`, isReportedAs(status)];
  const where = isAsked.length === 0 ? '' : ` WHERE ${isAsked.join(' AND ')}`;
  return `SELECT (SELECT count(*) FROM runs r${where}) AS counted,
    (SELECT count(*) FROM sessions s CROSS JOIN runs r ON r.session_seq = s.seq
       WHERE ${['s.deleted_at IS NOT NULL', ...isAsked].join(' AND ')}) AS hidden`;
}

/** The condition of an index with the few runs among which those of a status are; it is quicker to sort these than to look for them. */
function fewWith(status: RunStatus): string | null {
  if (!isTerminal(status)) return IS_UNFINISHED;
  return FAILED.some((state) => state === status) ? HAS_FAILED : null;
}

function* listRuns(tx: Reader, { sessionSeq, status, limit, offset }: RunFilter): Step<Listing<RunRecord>> {
  const few = status === null ? null : fewWith(status);
  const isAsked = [...(status === null ? [] : [isReportedAs(status)]), ...(few === null ? [] : [`r.${few}`])];
  const { where, values } = conditions(['s.deleted_at IS NULL', ...isAsked], { 'r.session_seq = ?': sessionSeq });
  const from = `FROM runs r JOIN sessions s ON s.seq = r.session_seq ${where}`;
  const count =
    sessionSeq === null && few === null ? countAll(status) : `SELECT count(*) AS counted, 0 AS hidden ${from}`;
  const { counted, hidden } = (yield* tx.get<{ counted: number; hidden: number }>(count, ...values))!;
  const total = counted - hidden;
  const page = fromNearerEnd({ limit, offset }, total, hidden);
  const bySeq = `ORDER BY ${few === null ? 'r.seq' : '+r.seq'} ${page.order}`;
  const items = yield* tx
    .rows(RECORD)
    .all(
      `${RUNS} WHERE r.seq IN (SELECT r.seq ${from} ${bySeq} LIMIT ? OFFSET ?) ORDER BY r.seq DESC`,
      ...values,
      page.limit,
      page.offset,
    );
  return { items, total };
}
