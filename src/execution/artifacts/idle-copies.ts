// Workspaces here that nobody has used for long: their directories go, since a later run has them laid out from what is recorded (L5).
import type { Workspaces } from '../../files/workspaces.ts';
import type { SnapshotThread } from '../../files/snapshots/snapshot-thread.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { IdleCopy } from '../../store/sessions/left-copies.ts';
import type { BegunWatch } from './begun-watch.ts';
import type { LookedAt } from './look.ts';

export interface IdleCopyParts {
  readonly store: { readonly sessions: Pick<Store['sessions'], 'listIdleCopies'> };
  readonly here: string;
  readonly workspaces: Pick<Workspaces, 'retire' | 'removeRetired'>;
  readonly snapshotThread: Pick<SnapshotThread, 'forget'>;
  isExecuting(sessionSeq: number): boolean;
  watchBegun(): BegunWatch;
  /** Whether a look finds exactly what is recorded of a workspace, so that nothing is lost with it. Rejects when nobody can look. */
  isRecorded(session: LookedAt, signal: AbortSignal): Promise<boolean>;
  readonly log: Log;
}

/** Makes what removes those of some sessions that were used before a moment (epoch ms), one after another. */
export function makeIdleCopies(parts: IdleCopyParts) {
  const { store, here } = parts;
  /** When those were used last of which more is here than what is recorded: they needn't be looked at again. */
  const kept = new Map<number, number>();

  async function removeOne(copy: IdleCopy, begun: BegunWatch, stopping: AbortSignal): Promise<void> {
    const { sessionSeq, sessionId, usedAt } = copy;
    if (kept.get(sessionSeq) === usedAt) return;
    if (!(await parts.isRecorded(copy, stopping))) {
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(sessionSeq, usedAt);
      return;
    }
    await parts.workspaces.removeRetired(sessionId);
    // Within one turn: a run that begins afterwards finds nothing here, and has it laid out.
    if (parts.isExecuting(sessionSeq) || begun.has(sessionSeq)) return;
    if (parts.workspaces.retire(sessionId) !== true) return;
    await parts.workspaces.removeRetired(sessionId);
    await parts.snapshotThread.forget(sessionId);
    parts.log.info({ session_id: sessionId }, 'the directory of an idle workspace was removed; its files are recorded');
  }

  return async (ids: readonly string[], before: number, stopping: AbortSignal): Promise<void> => {
    // Before they are asked for, as nothing may have begun since.
    const begun = parts.watchBegun();
    try {
      for (const copy of await store.sessions.listIdleCopies(ids, here, before)) {
        if (stopping.aborted) return;
        await removeOne(copy, begun, stopping).catch((error: unknown) => {
          const facts = { session_id: copy.sessionId, err: error };
          if (!stopping.aborted) parts.log.warn(facts, 'the directory of an idle workspace could not be removed');
        });
      }
    } finally {
      begun.end();
    }
  };
}

const MOST_KEPT = 10_000;
