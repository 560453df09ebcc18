// Sessions whose workspaces are idle, and what the store forgets of them when their files are removed.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { IS_UNFINISHED } from '../runs/run-states.ts';
import { addSpaceIn } from '../sessions/workspace-space.ts';
import { type Batch, LARGE, type Cursor, START } from './batch.ts';
import { type Amount, MAX_COUNTED } from './estimate.ts';

export interface IdleSession {
  readonly seq: number;
  readonly id: string;
  /** When its files were removed before; null if never. */
  readonly removedAt: number | null;
}

interface Candidate extends Omit<IdleSession, 'seq'>, Cursor {
  readonly rests: number;
}

export interface Taken {
  readonly session: IdleSession | undefined;
  readonly more: boolean;
  readonly next: Cursor;
}

/** Nothing may be under way there: runs, files that aren't known yet, archives, and pages that are made of it. */
const AT_REST = `NOT EXISTS (SELECT 1 FROM runs WHERE session_seq = s.seq AND ${IS_UNFINISHED})
  AND NOT EXISTS (SELECT 1 FROM runs WHERE session_seq = s.seq AND artifact_status = 'pending' AND finished_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM workspace_exports e WHERE e.session_seq = s.seq AND e.status = 'pending')
  AND NOT EXISTS (SELECT 1 FROM publish_pages p WHERE p.session_seq = s.seq AND p.deleted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM publish_jobs j WHERE j.session_seq = s.seq)
  AND NOT EXISTS (SELECT 1 FROM workspace_copies c WHERE c.session_seq = s.seq OR c.from_session = s.seq)
  AND (s.stop_requested_at IS NULL OR s.stop_confirmed_at IS NOT NULL)`;
/** Those that aren't at rest are among them: pages may keep thousands, which no statement may have to pass at once. */
const UNUSED = `FROM sessions s WHERE s.deleted_at IS NULL
    AND (s.workspace_checked_at IS NULL OR s.workspace_checked_at < s.updated_at)
    AND s.updated_at >= ? AND s.updated_at < ? AND (s.updated_at, s.seq) > (?, ?)
  ORDER BY s.updated_at, s.seq LIMIT ?`;
const CANDIDATES = `SELECT s.seq AS key, s.id, s.workspace_removed_at AS removedAt, s.updated_at AS at, ${AT_REST} AS rests
  ${UNUSED}`;
const IS_AT_REST = `SELECT 1 FROM sessions s WHERE s.seq = ? AND s.deleted_at IS NULL AND ${AT_REST}`;

/** The verbs. */
export function makeIdleWorkspaces({ read, write }: Database) {
  return {
    countIdle: read(function* (tx: Reader, before: number): Step<Amount> {
      const sql = `SELECT count(*) AS looked, count(CASE WHEN rests THEN 1 END) AS rows,
          coalesce(sum(CASE WHEN rests THEN size END), 0) AS bytes
        FROM (SELECT ${AT_REST} AS rests,
          (SELECT total_size FROM workspace_exports e WHERE e.session_seq = s.seq) AS size ${UNUSED})`;
      const values = [START.at, before, START.at, START.key, MAX_COUNTED];
      const { looked, rows, bytes } = (yield* tx.get<Amount & { looked: number }>(sql, ...values))!;
      return { rows, bytes, isAtLeast: looked === MAX_COUNTED };
    }),

    /** The session that has been idle for longest, from a place on. Whoever asks removes its files at once. */
    takeIdle: write(takeIdleIn, FREES),

    /**
     * Forgets the files of a workspace, so that no later run is said to have deleted them. Returns whether any are left. A run
     * that has begun meanwhile looks at the workspace itself.
     */
    forgetWorkspace: write(function* (
      tx: Transaction,
      { seq, removedAt }: IdleSession,
      wasThere: boolean,
      batch: Batch,
    ): Step<boolean> {
      if ((yield* tx.get(IS_AT_REST, seq)) === undefined) return false;
      yield* tx.run('DELETE FROM workspaces WHERE session_seq = ?', seq);
      const which = 'workspace_files WHERE session_seq = ? ORDER BY path LIMIT ?';
      for (let removed = Infinity, room = 0; removed >= room; ) {
        room = batch.room(4);
        if (room === 0) return true;
        const noted = `INSERT INTO publish_removals (sha256) SELECT sha256 FROM ${which} ON CONFLICT DO NOTHING`;
        yield* tx.run(noted, seq, room);
        const sizes = `SELECT coalesce(sum(size), 0) AS bytes FROM (SELECT size FROM ${which})`;
        yield* addSpaceIn(tx, seq, -(yield* tx.get<{ bytes: number }>(sizes, seq, room))!.bytes);
        removed = yield* tx.count(`DELETE FROM ${which}`, seq, room);
      }
      const earlier = 'earlier_files WHERE session_seq = ? ORDER BY run_seq, path LIMIT ?';
      for (let removed = Infinity, room = 0; removed >= room; ) {
        room = batch.room(4);
        if (room === 0) return true;
        const noted = `INSERT INTO publish_removals (sha256) SELECT sha256 FROM ${earlier} ON CONFLICT DO NOTHING`;
        yield* tx.run(noted, seq, room);
        removed = yield* tx.count(`DELETE FROM ${earlier}`, seq, room);
      }
      yield* tx.run(
        `INSERT INTO publish_removals (sha256) SELECT archive_key FROM workspace_exports
         WHERE session_seq = ? AND archive_key IS NOT NULL ON CONFLICT DO NOTHING`,
        seq,
      );
      yield* tx.run('DELETE FROM workspace_exports WHERE session_seq = ?', seq);
      yield* tx.run(
        `UPDATE sessions SET workspace_checked_at = CASE WHEN updated_at > ? THEN updated_at ELSE ? END,
           workspace_removed_at = ? WHERE seq = ?`,
        tx.now,
        tx.now,
        wasThere ? tx.now : removedAt,
        seq,
      );
      return false;
    }, FREES),
  };
}

function* takeIdleIn(tx: Transaction, before: number, batch: Batch, from: Cursor): Step<Taken> {
  for (let next = from; ; ) {
    const room = batch.room(LARGE);
    if (room === 0) return { session: undefined, more: true, next };
    const some = yield* tx.all<Candidate>(CANDIDATES, next.at, before, next.at, next.key, room);
    const session = some.find(({ rests }) => rests === 1);
    next = session ?? some.at(-1) ?? next;
    if (session !== undefined) {
      yield* tx.run('UPDATE sessions SET workspace_removed_at = ? WHERE seq = ?', tx.now, session.key);
      // A run that begins before the files are forgotten has to look at what is left.
      yield* tx.run('UPDATE workspace_exports SET stale = 1 WHERE session_seq = ?', session.key);
      return { session: { ...session, seq: session.key }, more: true, next };
    }
    if (some.length < room) return { session, more: false, next };
  }
}
