// Workspaces here that nobody uses: after some days, or while the disk is almost full, their directories go, since a later run has them
// laid out from what is recorded (L5).
import { existsSync } from 'node:fs';
import type { Workspaces } from '../../../files/workspaces.ts';
import type { SnapshotThread } from '../../../files/snapshots/snapshot-thread.ts';
import type { Log } from '../../../log/log.ts';
import type { Store } from '../../../store/open-store.ts';
import type { IdleCopy } from '../../../store/sessions/left-copies.ts';
import { type BegunWatch, watching } from './begun-watch.ts';
import type { LookedAt } from '../recording/look.ts';

export interface IdleCopyParts {
  readonly store: { readonly sessions: Pick<Store['sessions'], 'listIdleCopies'> };
  readonly here: string;
  readonly workspaces: Pick<Workspaces, 'pathOf' | 'retire' | 'removeRetired'>;
  readonly snapshotThread: Pick<SnapshotThread, 'forget'>;
  isExecuting(sessionSeq: number): boolean;
  watchBegun(): BegunWatch;
  /** Whether a look finds exactly what is recorded of a workspace, so that nothing is lost with it. Rejects when nobody can look. */
  isRecorded(session: LookedAt, signal: AbortSignal): Promise<boolean>;
  readonly log: Log;
}

export interface IdleCopies {
  /** Removes those of some sessions that were used before a moment (epoch ms), one after another. */
  removeBefore(ids: readonly string[], before: number, stopping: AbortSignal): Promise<void>;
  /**
   * Removes those that nobody has used for the longest, one after another, while the disk lacks room. Returns whether it has room now; false: there
   * is nothing more to remove. `all`: lists the sessions that have files here, some at a time.
   */
  makeRoom(
    all: () => AsyncIterable<readonly string[]>,
    lacksRoom: () => boolean,
    stopping: AbortSignal,
  ): Promise<boolean>;
}

/** Makes what removes them. */
export function makeIdleCopies(parts: IdleCopyParts): IdleCopies {
  const { store, here } = parts;
  /** When those were used last of which more is here than what is recorded: they needn't be looked at again. */
  const kept = new Map<number, number>();
  const isKept = ({ sessionSeq, usedAt }: IdleCopy) => kept.get(sessionSeq) === usedAt;

  async function removeOne(copy: IdleCopy, begun: BegunWatch, stopping: AbortSignal): Promise<void> {
    const { sessionSeq, sessionId, usedAt } = copy;
    if (isKept(copy) || !existsSync(parts.workspaces.pathOf(sessionId))) return;
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

  const tryOne = (copy: IdleCopy, begun: BegunWatch, stopping: AbortSignal): Promise<void> =>
    removeOne(copy, begun, stopping).catch((error: unknown) => {
      const facts = { session_id: copy.sessionId, err: error };
      if (!stopping.aborted) parts.log.warn(facts, 'the directory of an idle workspace could not be removed');
    });

  return {
    removeBefore: (ids, before, stopping) =>
      // Before they are asked for, as nothing may have begun since.
      watching(parts.watchBegun, async (begun) => {
        for (const copy of await store.sessions.listIdleCopies(ids, here, before)) {
          if (stopping.aborted) return;
          await tryOne(copy, begun, stopping);
        }
      }),
    makeRoom: async (all, lacksRoom, stopping) => {
      const tried = new Set<number>();
      const isOut = (copy: IdleCopy) => isKept(copy) || tried.has(copy.sessionSeq);
      for (let areLeft = true; areLeft && lacksRoom() && !stopping.aborted; )
        await watching(parts.watchBegun, async (begun) => {
          const copies = await longestUnused(parts, all(), isOut, stopping);
          areLeft = copies.length > 0;
          for (const copy of copies) {
            if (stopping.aborted || !lacksRoom()) return;
            tried.add(copy.sessionSeq);
            await tryOne(copy, begun, stopping);
          }
        });
      return !lacksRoom();
    },
  };
}

/** Up to `MOST_AT_ONCE`, without those that are out of the question. */
async function longestUnused(
  { store, here }: Pick<IdleCopyParts, 'store' | 'here'>,
  all: AsyncIterable<readonly string[]>,
  isOut: (copy: IdleCopy) => boolean,
  stopping: AbortSignal,
): Promise<IdleCopy[]> {
  let found = new Map<number, IdleCopy>();
  for await (const ids of all) {
    if (stopping.aborted) return [];
    for (const copy of await store.sessions.listIdleCopies(ids, here, Number.MAX_SAFE_INTEGER))
      if (!isOut(copy)) found.set(copy.sessionSeq, copy);
    const inOrder = [...found].sort(([, one], [, other]) => one.usedAt - other.usedAt);
    found = new Map(inOrder.slice(0, MOST_AT_ONCE));
  }
  return [...found.values()];
}

const MOST_KEPT = 10_000;
/** Of those that may go for lack of room. */
const MOST_AT_ONCE = 1_000;
