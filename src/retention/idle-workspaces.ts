// Removes the files of sessions that nobody has used for long, one session at a time.
import type { Clock } from '../domain/clock.ts';
import type { SnapshotThread } from '../files/snapshots/snapshot-thread.ts';
import type { Workspaces } from '../files/workspaces.ts';
import type { Store } from '../store/open-store.ts';
import { type Batch, makeBatch, type Removed, START } from '../store/retention/batch.ts';

export interface IdleWorkspaceParts {
  readonly store: Pick<Store, 'retention'>;
  readonly workspaces: Pick<Workspaces, 'retire' | 'removeRetired'>;
  readonly snapshotThread: Pick<SnapshotThread, 'forget'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * Makes the function that empties the next workspace. The files are out of the way before anything else can happen in this
 * process: a run that begins afterwards finds an empty workspace. A kill leaves the session as idle as before.
 */
export function makeEmptyIdle({ store: { retention }, workspaces, snapshotThread, clock }: IdleWorkspaceParts) {
  // Each commit has a time of its own.
  const batch = () => makeBatch(() => clock.monotonic());
  return async (before: number, _batch?: Batch, from = START): Promise<Removed> => {
    const { session, more, next } = await retention.takeIdle(before, batch(), from);
    if (session === undefined) return { rows: 0, more, next };
    const wasThere = workspaces.retire(session.id);
    await workspaces.removeRetired(session.id);
    await snapshotThread.forget(session.id);
    while (await retention.forgetWorkspace(session, wasThere, batch()));
    return { rows: Number(wasThere), more, next };
  };
}
