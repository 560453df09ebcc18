// The collector: ensures that what runs made is found, stored and packed, after each run and after each crash.
import type { Happened } from '../../events/wakes.ts';
import type { ArtifactWork } from '../../store/artifacts/artifact-queue.ts';
import { isNoSpace } from '../../files/blobs/no-space.ts';
import { isStorageAway } from '../../files/blobs/s3/s3-error.ts';
import { isNoThread } from '../../files/snapshots/send-request.ts';
import { makeHalt } from '../../domain/halt.ts';
import { makeKeyedQueue } from '../../services/keyed-queue.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { WorkspaceSize } from '../../store/artifacts/workspace-tree.ts';
import { type ArtifactParts, makeBlobRemoval, PACKED_ON_REQUEST, WAITED_FOR } from './artifact-parts.ts';
import { type BaselineRun, makeWorkspaceBaseline, type WorkspaceBaseline } from './recording/workspace-baseline.ts';
import { type BegunWatch, makeBegun } from './removal/begun-watch.ts';
import { type Known, makeCollected, makeElsewhere, makeWaiting } from './recording/collected.ts';
import { collectRun } from './recording/collect-artifacts.ts';
import { isRecorded, type LookedAt } from './recording/look.ts';
import { packNext } from './packing/pack-artifacts.ts';
import { type DownloadArchive, makeDownloads } from './packing/archive-downloads.ts';
import { makePackOnRequest, type PackOnRequest } from './packing/pack-on-request.ts';

export interface Collector {
  /** Collects a session: a run of it has ended, or the executor of a stopped one has. */
  wake(sessionSeq: number): void;
  /** Packs an archive that someone asks for. */
  readonly packOnRequest: PackOnRequest;
  /** Packs a large one while it is downloaded. */
  readonly downloadArchive: DownloadArchive;
  /** Continues what an earlier process left. */
  start(): void;
  /** The baseline of a run, from its claim. */
  baselineOf(run: BaselineRun): WorkspaceBaseline;
  /** Collects the numbers of sessions whose runs begin here from now on, until its end. */
  watchBegun(): BegunWatch;
  /** Whether a look finds exactly what is recorded of a workspace, so that nothing is lost with it. */
  isRecorded(session: LookedAt, signal: AbortSignal): Promise<boolean>;
  /** Calls a listener with each session that was looked at, until the result is called: its files may be known now. */
  onCollected(listener: (sessionSeq: number) => void): () => void;
  /** A session was forked: its files are listed. */
  forked(sessionSeq: number): void;
  /** The files of a session may be known at another node. */
  knownElsewhere(sessionSeq: number): void;
  /** A node was removed: what it has not collected is lost. */
  nodeRemoved(): void;
  /** Leaves work in progress to the next start. */
  stop(): Promise<void>;
}

type Defaults = 'packedOnRequest' | 'waitedFor';

export type CollectorParts = Omit<ArtifactParts, 'removal' | 'stopping' | Defaults> & {
  /** Other than `PACKED_ON_REQUEST` and `WAITED_FOR`. */
  readonly [D in Defaults]?: WorkspaceSize;
} & {
  readonly happened: Happened;
};

/** Sessions that are collected, and sessions that are packed, concurrently: they share commits. */
const [COLLECTED, PACKED] = [6, 3];
/** Forks whose files are listed concurrently; each may wait for a session. */
const COPIED = 16;
const RETRY_MS = 1_000;
/** Free space does not reappear within seconds. */
const NO_SPACE_RETRY_MS = 60_000;
/** Without a thread, and without the bucket. */
const SOON_RETRY_MS = 5_000;

/** Makes the collector. Collecting precedes packing: the session's next run waits for it. */
export function makeCollector(given: CollectorParts): Collector {
  const { happened, ...needed } = given;
  const released = () => happened('blobs released');
  const { store, blobs, here, clock, log } = needed;
  const stopping = new AbortController();
  const parts: ArtifactParts = {
    packedOnRequest: PACKED_ON_REQUEST,
    waitedFor: WAITED_FOR,
    ...needed,
    removal: makeBlobRemoval({ store, blobs, clock, log, stopping: stopping.signal }),
    stopping: stopping.signal,
  };
  const waiting = makeWaiting();
  const elsewhere = makeElsewhere(parts, waiting.notify);
  const packing = makeQueue(parts, PACKED, (session) => packNext(parts, session).finally(released));
  const begun = makeBegun();
  /** Sessions with something to pack. */
  const unpacked = new Set<number>();
  /** Returns whether nothing is known that has to be packed. */
  async function collectOne({ run }: ArtifactWork, sessionSeq: number): Promise<boolean> {
    if (run === undefined) return false;
    return collectRun(parts, { ...run, sessionSeq }, () => waiting.has(sessionSeq)).finally(released);
  }
  const collecting = makeQueue(parts, COLLECTED, async (session) => {
    const work = await store.artifacts.findWork(session, here);
    if (work !== undefined && !(await collectOne(work, session))) unpacked.add(session);
    // What isn't here may still have to be collected where it is.
    if (here === null || work?.run !== undefined) waiting.notify(session);
    // Behind the last of its runs, so that the workspace is packed once.
    if (work?.hasMore !== true && unpacked.delete(session)) packing.add(session);
    return work?.hasMore === true;
  });
  const { collected, listFork } = makeCollected({ ...parts, waiting, elsewhere, look: collecting.add });
  const copying = makeCopying(parts, listFork);
  const earlier = makeEarlier(parts, { unpacked, collecting, copying });
  const onRequest = makePackOnRequest({ ...parts, wake: packing.add, released });
  const downloads = makeDownloads({ ...parts, released });
  return {
    wake: collecting.add,
    packOnRequest: onRequest.pack,
    downloadArchive: downloads.download,
    start: () => {
      earlier.wake();
      elsewhere.start();
    },
    baselineOf: (run) => {
      begun.note(run.sessionSeq);
      return makeWorkspaceBaseline(parts, run, collected);
    },
    watchBegun: begun.watch,
    isRecorded: async (session, signal) => isRecorded(parts, session, signal),
    onCollected: waiting.listen,
    knownElsewhere: waiting.release,
    forked: copying.add,
    nodeRemoved: elsewhere.nodeRemoved,
    stop: async () => {
      stopping.abort();
      await Promise.all([earlier.stop(), elsewhere.stop()]);
      await Promise.all([collecting.stop(), packing.stop(), copying.stop(), onRequest.ended(), downloads.ended()]);
    },
  };
}

/** Lists the files of forks. */
function makeCopying(parts: ArtifactParts, listFork: Known['listFork']) {
  const off = makeHalt();
  parts.stopping.addEventListener('abort', () => off.halt());
  return makeQueue(parts, COPIED, async (fork) => {
    await listFork(fork, off);
    return false;
  });
}

/** What an earlier process has left. */
function makeEarlier(
  { store, here, clock, log }: ArtifactParts,
  queues: Readonly<Record<'unpacked' | 'collecting' | 'copying', { add(session: number): unknown }>>,
): Service {
  const { unpacked, collecting, copying } = queues;
  const failure = 'the sessions with artifacts to collect could not be listed';
  const work = async () => {
    for (const session of await store.artifacts.listSessionsToCollect(here)) {
      unpacked.add(session);
      collecting.add(session);
    }
    for (let last: number | undefined = 0; last !== undefined; ) {
      const forks = await store.artifacts.listCopies(last);
      for (const fork of forks) copying.add(fork);
      last = forks.at(-1);
    }
    return null;
  };
  return makeService({ work, failure, clock, log });
}

/** A queue of sessions, whose work is retried. */
function makeQueue({ clock, log }: ArtifactParts, limit: number, work: (session: number) => Promise<boolean>) {
  return makeKeyedQueue({
    limit,
    work,
    // Only storage and threads fail here, and they may recover.
    failure: 'artifacts could not be recorded; will retry',
    retryMs: (error) =>
      isNoSpace(error) ? NO_SPACE_RETRY_MS : isNoThread(error) || isStorageAway(error) ? SOON_RETRY_MS : RETRY_MS,
    clock,
    log,
  });
}
