// Removes the files of sessions that nobody has used for long, one session at a time.
import type { Clock } from '../domain/clock.ts';
import type { SnapshotThread } from '../files/snapshots/snapshot-thread.ts';
import type { Workspaces } from '../files/workspaces.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';
import { type Batch, type Cursor, makeBatch, type Removed, START } from '../store/retention/batch.ts';

export interface IdleWorkspaceParts {
  readonly store: Pick<Store, 'retention'>;
  readonly workspaces: Pick<Workspaces, 'retire' | 'removeRetired'>;
  readonly snapshotThread: Pick<SnapshotThread, 'forget'>;
  /** Whether other nodes may have workspaces: then none is emptied. */
  readonly isShared: boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Pick<Log, 'error'>;
}

/**
 * Makes the function that empties the next workspace. The files are out of the way before anything else can happen in this
 * process: a run that begins afterwards finds an empty workspace. A kill leaves the session as idle as before. One whose files can't be
 * removed is passed, until the next pass: others must not wait for it.
 */
export function makeEmptyIdle({
  store: { retention },
  workspaces,
  snapshotThread,
  isShared,
  clock,
  log,
}: IdleWorkspaceParts): (before: number, batch?: Batch, from?: Cursor) => Promise<Removed> {
  // Each commit has a time of its own.
  const batch = () => makeBatch(() => clock.monotonic());
  // Where other nodes may have some, each removes its own directories, and what is recorded of them stays (`execution/artifacts/removal/idle-copies.ts`).
  if (isShared) return async (): Promise<Removed> => ({ rows: 0, more: false });
  return async (before: number, _batch?: Batch, from = START): Promise<Removed> => {
    const { session, more, next } = await retention.takeIdle(before, batch(), from);
    if (session === undefined) return { rows: 0, more, next };
    try {
      const wasThere = workspaces.retire(session.id);
      await workspaces.removeRetired(session.id);
      // Meanwhile the session may have been used.
      if (wasThere === 'blocked') return { rows: 0, more: true, next: from };
      await snapshotThread.forget(session.id);
      while (await retention.forgetWorkspace(session, wasThere, batch()));
      return { rows: Number(wasThere), more, next };
    } catch (error) {
      log.error({ session_id: session.id, err: error }, 'the files of an idle session could not be removed');
      return { rows: 0, more, next };
    }
  };
}
