// The remaining work on the artifacts of ended runs: workspaces to examine, archives to pack.
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { type Here, ofHere } from '../sessions/workspaces-here.ts';

/** An ended run whose changes have not been collected yet. */
export interface UncollectedRun {
  readonly runSeq: number;
  readonly runId: string;
  readonly sessionId: string;
}

/** The next run to collect, unless an executor may still be at work there, and whether there is another one. */
export interface ArtifactWork {
  readonly run: UncollectedRun | undefined;
  readonly hasMore: boolean;
}

/** An archive to pack: a run's files as tar.gz, or a session's as zip. */
export interface Packing {
  readonly kind: 'run' | 'workspace';
  readonly runSeq: number;
  readonly runId: string;
  readonly sessionId: string;
  /** Of the look that found a workspace's files: it has changed since when it is another one. Null of a run. */
  readonly token: string | null;
}

/** What precedes a run of a session. */
export interface Before {
  /** The changes of an earlier run are still to be collected. */
  readonly isUncollected: boolean;
  /** Files of its workspace are recorded. */
  readonly hasFiles: boolean;
  /** Its files are still to be listed: those of the session that it is forked from. */
  readonly isToCopy: boolean;
  /** Its agents were told of a workspace that was laid out anew. */
  readonly hasNotes: boolean;
}

/** The unfinished artifacts of a run. */
export const ENDED = "artifact_status = 'pending' AND finished_at IS NOT NULL";
export const IS_COLLECTED = 'EXISTS (SELECT 1 FROM run_artifacts a WHERE a.run_seq = r.seq)';
const UNCOLLECTED = `SELECT r.seq AS runSeq, r.id AS runId, s.id AS sessionId
  FROM runs r JOIN sessions s ON s.seq = r.session_seq
  WHERE r.session_seq = ? AND r.seq < ? AND r.artifact_status = 'pending' AND r.finished_at IS NOT NULL
    AND NOT ${IS_COLLECTED}`;
/** Nothing is collected while the executor of a stopped run may still be in the workspace. */
const AT_REST = 'AND (s.stop_requested_at IS NULL OR s.stop_confirmed_at IS NOT NULL)';
const OPEN_WORK = `SELECT 1 FROM runs WHERE session_seq = ? AND ${ENDED}
  UNION ALL SELECT 1 FROM workspace_exports WHERE session_seq = ? AND status = 'pending' LIMIT 1`;
const BEFORE = `SELECT EXISTS (${UNCOLLECTED} LIMIT 1) AS uncollected,
  EXISTS (SELECT 1 FROM workspace_files WHERE session_seq = ?) AS files,
  EXISTS (SELECT 1 FROM workspace_notes WHERE session_seq = ?) AS notes,
  EXISTS (SELECT 1 FROM workspace_copies WHERE session_seq = ?) AS copies`;
const PACKED_RUNS = 2;
const ANY_RUN = Number.MAX_SAFE_INTEGER;

/** The verbs that find work. What is to be collected is that of the workspaces which are here; any node may pack. */
export function makeArtifactQueue({ read }: Database) {
  return {
    /** Sessions with something to collect or to pack, the longest-waiting first. */
    listSessionsToCollect: read(function* (tx: Reader, here: Here = null): Step<number[]> {
      const { sql, values } = ofHere(here);
      const toPack = `OR ${IS_COLLECTED}`;
      // Without its first column, SQLite would look through all runs that ever ended, in their index, for those to collect.
      return (yield* tx.all<{ sessionSeq: number }>(
        `SELECT session_seq FROM (
             SELECT session_seq, seq FROM runs r WHERE session_seq > 0 AND ${ENDED}
               ${here === null ? '' : `AND (EXISTS (SELECT 1 FROM sessions s WHERE s.seq = r.session_seq${sql}) ${toPack})`}
             UNION ALL SELECT session_seq, run_seq FROM workspace_exports WHERE status = 'pending') AS open_work
           GROUP BY session_seq ORDER BY min(seq)`,
        ...values,
      )).map((row) => row.sessionSeq);
    }),

    /** What a session has to collect or to pack: after most runs, nothing. */
    findWork: read(function* (tx: Reader, sessionSeq: number, here: Here = null): Step<ArtifactWork | undefined> {
      if ((yield* tx.get(OPEN_WORK, sessionSeq, sessionSeq)) === undefined) return undefined;
      const { sql, values } = ofHere(here);
      const [run, next] = yield* tx.all<UncollectedRun>(
        `${UNCOLLECTED} ${AT_REST}${sql} ORDER BY r.seq LIMIT 2`,
        sessionSeq,
        ANY_RUN,
        ...values,
      );
      return { run, hasMore: next !== undefined };
    }),

    /** What a run of a session has to wait for, and what it finds there. For its executor alone. */
    findBefore: read(function* (tx: Reader, sessionSeq: number, runSeq: number): Step<Before> {
      const session = [sessionSeq, sessionSeq, sessionSeq];
      return beforeOf((yield* tx.get<BeforeRow>(BEFORE, sessionSeq, runSeq, ...session))!);
    }, 'committed'),

    /**
     * A session's next archives to pack: of its runs, at most two at once, and behind the last of them that of the workspace.
     */
    listPacking: read(function* (tx: Reader, sessionSeq: number): Step<Packing[]> {
      const runs = yield* tx.all<Packing>(
        `SELECT 'run' AS kind, r.seq AS runSeq, r.id AS runId, s.id AS sessionId, NULL AS token
         FROM runs r JOIN sessions s ON s.seq = r.session_seq
         WHERE r.session_seq = ? AND r.artifact_status = 'pending' AND r.finished_at IS NOT NULL AND ${IS_COLLECTED}
         ORDER BY r.seq LIMIT ?`,
        sessionSeq,
        PACKED_RUNS,
      );
      if (runs.length === PACKED_RUNS) return runs;
      const workspace = yield* tx.get<Packing>(
        `SELECT 'workspace' AS kind, e.run_seq, r.id AS runId, s.id AS sessionId,
           (SELECT token FROM workspaces w WHERE w.session_seq = e.session_seq) AS token
         FROM workspace_exports e JOIN runs r ON r.seq = e.run_seq JOIN sessions s ON s.seq = e.session_seq
         WHERE e.session_seq = ? AND e.status = 'pending'`,
        sessionSeq,
      );
      return workspace === undefined ? runs : [...runs, workspace];
    }),
  };
}

type BeforeRow = Readonly<Record<'uncollected' | 'files' | 'notes' | 'copies', number>>;

const beforeOf = ({ uncollected, files, notes, copies }: BeforeRow): Before => ({
  isUncollected: uncollected === 1,
  hasFiles: files === 1,
  hasNotes: notes === 1,
  isToCopy: copies === 1,
});

/** Whether the changes of a run of the session, or of one before it, are not known yet; those of runs that have not ended never are. */
export function* isUncollectedUntil(tx: Reader, sessionSeq: number, runSeq: number): Step<boolean> {
  return (yield* tx.get(`${UNCOLLECTED} LIMIT 1`, sessionSeq, runSeq + 1)) !== undefined;
}

/** Whether the changes of an ended run of the session are not known yet. */
export function* isSessionUncollected(tx: Reader, sessionSeq: number): Step<boolean> {
  return (yield* tx.get(`${UNCOLLECTED} LIMIT 1`, sessionSeq, ANY_RUN)) !== undefined;
}
