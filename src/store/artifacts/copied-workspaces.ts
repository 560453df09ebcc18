// Lists the files of forks: those that another session had after a run. Their contents are the same blobs (M2).
import { newId } from '../../domain/ids.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import { NO_CONTENTS } from '../../domain/sessions/contents.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type EarlierPlace, filesAfterRun } from '../forks/earlier-files.ts';
import { isUncollectedUntil } from './artifact-queue.ts';
import { keepExtras, knownUntil, saveState, stateOf } from './workspace-state.ts';
import { applyChange, compareIn, FILES_AT_ONCE } from './workspace-tree.ts';

/** `more`: there is more to list. `waits`: until the files of that session are known after a run of it, which is at a node. */
export type Copying =
  | { readonly kind: 'done' }
  | { readonly kind: 'more' }
  | {
      readonly kind: 'waits';
      readonly sessionSeq: number;
      readonly atRun: number;
      readonly workspaceNode: string | null;
    };

interface CopyRow extends EarlierPlace {
  readonly fromSession: number;
  readonly atRun: number;
  readonly isDeleted: number;
  readonly workspaceNode: string | null;
}

const COPY = `SELECT c.from_session, c.at_run, c.after_run, c.after_path, s.deleted_at IS NOT NULL AS isDeleted, o.workspace_node
  FROM workspace_copies c JOIN sessions s ON s.seq = c.session_seq JOIN sessions o ON o.seq = c.from_session WHERE c.session_seq = ?`;
const MOST = 100;

/** The verbs. `atOnce`: files of one commit. */
export function makeCopiedWorkspaces({ read, write }: Database, { atOnce = FILES_AT_ONCE } = {}) {
  return {
    /** Lists a part of the files of a fork. Called until there are no more; then its workspace can be laid out. */
    copyWorkspace: write(function* (tx: Transaction, sessionSeq: number): Step<Copying> {
      const copy = yield* tx.get<CopyRow>(COPY, sessionSeq);
      if (copy === undefined) return DONE;
      if (copy.isDeleted === 1) return yield* endIn(tx, sessionSeq);
      const { fromSession, atRun, workspaceNode } = copy;
      if (yield* isUncollectedUntil(tx, fromSession, atRun))
        return { kind: 'waits', sessionSeq: fromSession, atRun, workspaceNode };
      const { files, next } = yield* filesAfterRun(tx, { sessionSeq: fromSession, atRun }, copy, atOnce);
      yield* listFiles(tx, sessionSeq, files);
      if (next === null) return yield* finish(tx, sessionSeq, copy);
      const sql = 'UPDATE workspace_copies SET after_run = ?, after_path = ? WHERE session_seq = ?';
      yield* tx.run(sql, next.afterRun, next.afterPath, sessionSeq);
      return { kind: 'more' };
    }),

    /** Forks whose files are still to be listed, after one of them. */
    listCopies: read(function* (tx: Reader, after: number): Step<number[]> {
      const sql = `SELECT session_seq FROM workspace_copies WHERE session_seq > ? ORDER BY session_seq LIMIT ${MOST}`;
      return (yield* tx.all<{ sessionSeq: number }>(sql, after)).map((row) => row.sessionSeq);
    }),

    /** Some of those that need the files of a session. */
    listCopiesOf: read(function* (tx: Reader, fromSession: number): Step<number[]> {
      const sql = `SELECT session_seq FROM workspace_copies WHERE from_session = ? LIMIT ${MOST}`;
      return (yield* tx.all<{ sessionSeq: number }>(sql, fromSession)).map((row) => row.sessionSeq);
    }),
  };
}

const DONE = { kind: 'done' } as const;

/** What is there already has been listed before a crash. */
function* listFiles(tx: Transaction, sessionSeq: number, files: readonly FileVersion[]): Step<void> {
  const change = yield* compareIn(tx, sessionSeq, { files });
  const changed = change.changed.filter((file) => file.change === 'added');
  const grownBytes = changed.reduce((sum, { size }) => sum + size, 0);
  const added = {
    sessionSeq,
    runSeq: 0,
    changed,
    deletedPaths: [],
    replacedKeys: [],
    grownBytes,
    contents: NO_CONTENTS,
  };
  yield* saveState(tx, sessionSeq, yield* applyChange(tx, yield* stateOf(tx, sessionSeq), added));
}

function* finish(tx: Transaction, sessionSeq: number, { fromSession, atRun }: CopyRow): Step<Copying> {
  yield* listFiles(tx, sessionSeq, yield* unseenUploads(tx, fromSession, atRun));
  // A look may refer to the files from now on.
  yield* saveState(tx, sessionSeq, { ...(yield* stateOf(tx, sessionSeq)), token: newId(tx.now) });
  const extras = yield* tx.get<{ extras: string | null }>(
    'SELECT extras FROM workspaces WHERE session_seq = ?',
    fromSession,
  );
  yield* keepExtras(tx, sessionSeq, extras?.extras);
  return yield* endIn(tx, sessionSeq);
}

/** Given to so many of the last runs. */
const MOST_RUNS = 20;
const seenLater = (table: string) =>
  `EXISTS (SELECT 1 FROM ${table} f WHERE f.session_seq = ? AND f.sha256 = a.sha256 AND f.path = a.workspace_path AND f.since_run > ?)`;
const UNSEEN_UPLOADS = `SELECT a.workspace_path AS path, a.size, a.sha256
  FROM (SELECT seq FROM runs WHERE session_seq = ? AND seq <= ? ORDER BY seq DESC LIMIT ${MOST_RUNS}) AS latest
  JOIN messages m ON m.run_seq = latest.seq AND m.role = 'user' JOIN attachments a ON a.message_id = m.id
  WHERE latest.seq > ? OR ${seenLater('workspace_files')} OR ${seenLater('earlier_files')}
  ORDER BY a.seq DESC LIMIT ${FILES_AT_ONCE}`;

/** What was attached before the end of a run, of which nobody had recorded until then that it was there: such runs change nothing. */
function* unseenUploads(tx: Reader, sessionSeq: number, atRun: number): Step<FileVersion[]> {
  const known = knownUntil(yield* stateOf(tx, sessionSeq), { runSeq: atRun + 1 });
  const later = [sessionSeq, atRun];
  return yield* tx.all<FileVersion>(UNSEEN_UPLOADS, sessionSeq, atRun, known.run, ...later, ...later);
}

function* endIn(tx: Transaction, sessionSeq: number): Step<Copying> {
  yield* tx.run('DELETE FROM workspace_copies WHERE session_seq = ?', sessionSeq);
  return DONE;
}
