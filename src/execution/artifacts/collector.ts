// The collector: sees to it that what runs made is found, kept and packed, after each run and after each crash.
import { isNoSpace } from '../../files/blobs/no-space.ts';
import { makeKeyedQueue } from '../../services/keyed-queue.ts';
import { makeService } from '../../services/service.ts';
import { type ArtifactParts, makeBlobRemoval } from './artifact-parts.ts';
import { type WorkspaceBaseline, type BaselineRun, makeWorkspaceBaseline } from './workspace-baseline.ts';
import { collectNext } from './collect-artifacts.ts';
import { packNext } from './pack-artifacts.ts';

export interface Collector {
  /** Looks at a session: a run of it has ended, or the executor of a stopped one has. */
  wake(sessionSeq: number): void;
  /** Takes up what an earlier process left. */
  start(): void;
  /** The baseline of a run, from its claim on. */
  baselineOf(run: BaselineRun): WorkspaceBaseline;
  /** Leaves what is under way to the next start. */
  stop(): Promise<void>;
}

export type CollectorParts = Omit<ArtifactParts, 'removal' | 'stopping'> & {
  /** Called when blobs that were held are held no more: a clean-up may have waited for them. */
  released(): void;
};

/** Sessions that are looked at, and those that are packed, at once. */
const LIMIT = 2;
const RETRY_MS = 1_000;
/** Space does not come back by the second. */
const NO_SPACE_RETRY_MS = 60_000;

/** Makes the collector. Looking goes before packing: the session's next run waits for it. */
export function makeCollector(given: CollectorParts): Collector {
  const { store, snapshotThread, blobs, workspaces, settings, clock, log, released } = given;
  const stopping = new AbortController();
  const parts: ArtifactParts = {
    store,
    snapshotThread,
    blobs,
    workspaces,
    settings,
    clock,
    log,
    removal: makeBlobRemoval({ store, blobs }),
    stopping: stopping.signal,
  };
  const waiting = makeWaiting();
  const queue = (work: (session: number) => Promise<boolean>) =>
    makeKeyedQueue({
      limit: LIMIT,
      work,
      // Only storage fails here, and it may write again.
      failure: 'artifacts could not be recorded; it is tried again',
      retryMs: (error) => (isNoSpace(error) ? NO_SPACE_RETRY_MS : RETRY_MS),
      clock,
      log,
    });
  const packing = queue((session) => packNext(parts, session).finally(released));
  const collecting = queue(async (session) => {
    const more = await collectNext(parts, session, () => waiting.has(session)).finally(released);
    waiting.tell(session);
    if (!more) packing.add(session);
    return more;
  });

  const earlier = makeService({
    work: async () => {
      (await store.artifacts.listSessionsToCollect()).forEach(collecting.add);
      return null;
    },
    failure: 'the sessions with artifacts to collect could not be listed',
    clock,
    log,
  });

  /** Resolves when nothing that an earlier run of the session left is still to be looked at. */
  async function collected(sessionSeq: number, runSeq: number): Promise<void> {
    while (await store.artifacts.isAfterUncollected(sessionSeq, runSeq)) {
      const told = waiting.next(sessionSeq);
      collecting.add(sessionSeq);
      await told;
    }
  }

  return {
    wake: collecting.add,
    start: earlier.wake,
    baselineOf: (run) => makeWorkspaceBaseline(parts, run, collected),
    stop: async () => {
      stopping.abort();
      await earlier.stop();
      await Promise.all([collecting.stop(), packing.stop()]);
    },
  };
}

/** Who waits for news of a session. */
function makeWaiting() {
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  return {
    next: (sessionSeq: number): Promise<void> => {
      const news = waiting.get(sessionSeq) ?? Promise.withResolvers<void>();
      waiting.set(sessionSeq, news);
      return news.promise;
    },
    has: (sessionSeq: number): boolean => waiting.has(sessionSeq),
    tell: (sessionSeq: number): void => {
      waiting.get(sessionSeq)?.resolve();
      waiting.delete(sessionSeq);
    },
  };
}
