// Files that no row names, of a pass that someone asked for: a scan of all files is not for every hour.
import { join } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import { findOrphans, type Orphan, ORPHAN_AGE_MS } from '../files/orphans.ts';
import type { SnapshotThread } from '../files/snapshots/snapshot-thread.ts';
import type { Workspaces } from '../files/workspaces.ts';
import type { Log } from '../log/log.ts';
import { START } from '../store/retention/batch.ts';
import type { Store } from '../store/open-store.ts';
import type { Due } from './pass.ts';

export interface OrphanSweepParts {
  readonly dataDir: string;
  readonly store: {
    readonly sessions: Pick<Store['sessions'], 'hasFiles' | 'isBlobInUse'>;
    readonly smallBlobs: Pick<Store['smallBlobs'], 'listUses'>;
  };
  readonly blobs: Pick<BlobStore, 'isHeld' | 'removeUnless'>;
  readonly workspaces: Pick<Workspaces, 'remove'>;
  readonly snapshotThread: Pick<SnapshotThread, 'forget'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error' | 'warn'>;
}

/** What there is; `isAtLeast`: looking has ended at its time limit. */
export interface OrphanReport {
  readonly blobs: number;
  /** Of these blobs. */
  readonly bytes: number;
  readonly workspaces: number;
  /** The first of them. */
  readonly examples: readonly Orphan[];
  readonly isAtLeast: boolean;
}

export interface Orphans {
  report(): Promise<OrphanReport>;
  /** What a pass removes; each result is for one pass. */
  due(): Due;
}

const MAX_EXAMPLES = 20;
/** Clients don't wait much longer for a reply. */
const REPORT_MS = 15_000;
/** Looks between two pauses of a pass. */
const LOOKS = 10;

/** Makes the verbs. */
export function makeOrphans(parts: OrphanSweepParts): Orphans {
  const { dataDir, store, blobs, clock } = parts;
  const find = () =>
    findOrphans({
      blobs: join(dataDir, 'blobs'),
      workspaces: join(dataDir, 'workspaces'),
      before: clock.now() - ORPHAN_AGE_MS,
      isBlobInUse: (key) => blobs.isHeld(key) || store.sessions.isBlobInUse(key),
      listUses: store.smallBlobs.listUses,
      hasFiles: store.sessions.hasFiles,
    });

  return {
    report: async () => {
      const until = clock.monotonic() + REPORT_MS;
      const found = { blobs: 0, bytes: 0, workspaces: 0, examples: [] as Orphan[] };
      for await (const orphan of find()) {
        if (clock.monotonic() > until) return { ...found, isAtLeast: true };
        if (orphan === null) continue;
        found[orphan.kind === 'workspace' ? 'workspaces' : 'blobs'] += 1;
        found.bytes += orphan.bytes;
        if (found.examples.length < MAX_EXAMPLES) found.examples.push(orphan);
      }
      return { ...found, isAtLeast: false };
    },
    due: () => {
      const found = find();
      const remove: Due['kind']['remove'] = async () => {
        let rows = 0;
        for (let looks = 0; looks < LOOKS; looks += 1) {
          const { done, value } = await found.next();
          if (done) return { rows, more: false };
          if (value !== null && (await removeOne(parts, value))) rows += 1;
        }
        return { rows, more: true, next: START };
      };
      return { kind: { name: 'orphans', remove }, bound: 0 };
    },
  };
}

/** Returns whether it is gone. One that can't be removed is not in the way of others. */
async function removeOne({ store, blobs, workspaces, snapshotThread, log }: OrphanSweepParts, orphan: Orphan) {
  const { kind, name } = orphan;
  try {
    if (kind !== 'workspace') return await blobs.removeUnless(name, store.sessions.isBlobInUse);
    if (await store.sessions.hasFiles(name)) return false;
    await workspaces.remove(name);
    await snapshotThread.forget(name);
    log.warn({ session_id: name }, 'a workspace was removed whose session does not exist');
    return true;
  } catch (error) {
    log.error({ kind, name, err: error }, 'what no row names could not be removed');
    return false;
  }
}
