// Who waits until the files of a session are known: here as soon as they are collected, elsewhere when that node says so, or was lost.
import { type Clock, pause } from '../../../domain/clock.ts';
import type { Halt } from '../../../domain/halt.ts';
import type { ArtifactParts } from '../artifact-parts.ts';
import { makeLostWorkspaces } from './lost-workspaces.ts';
import type { Collected } from './workspace-baseline.ts';

/** Callers that wait for a change of a session, and listeners to those of all. */
export function makeWaiting() {
  const waiting = new Map<number, PromiseWithResolvers<void> & { callers: number }>();
  const listeners = new Set<(sessionSeq: number) => void>();
  const release = (sessionSeq: number) => {
    waiting.get(sessionSeq)?.resolve();
    waiting.delete(sessionSeq);
  };
  return {
    listen: (listener: (sessionSeq: number) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    next: (sessionSeq: number): Promise<void> => {
      const news = waiting.get(sessionSeq) ?? { ...Promise.withResolvers<void>(), callers: 0 };
      news.callers += 1;
      waiting.set(sessionSeq, news);
      return news.promise;
    },
    /** Who leaves doesn't wait for the change that it was promised. */
    leave: (sessionSeq: number, change: Promise<void>): void => {
      const news = waiting.get(sessionSeq);
      if (news?.promise !== change) return;
      news.callers -= 1;
      if (news.callers === 0) waiting.delete(sessionSeq);
    },
    has: (sessionSeq: number): boolean => waiting.has(sessionSeq),
    /** Has those that wait look again. */
    release,
    /** The same, and calls the listeners. */
    notify: (sessionSeq: number): void => {
      release(sessionSeq);
      for (const listener of listeners) listener(sessionSeq);
    },
  };
}

type Waiting = ReturnType<typeof makeWaiting>;

/** Workspaces of other nodes. */
export interface Elsewhere {
  /** Waits for a change there, or for a while: what another node has said may have been missed. */
  wait(sessionSeq: number, changed: Promise<void>, off: Halt): Promise<void>;
  /** A node was removed: what it has not collected is lost. */
  nodeRemoved(): void;
  start(): void;
  stop(): Promise<void>;
}

const LOOK_MS = 1_000;

/** Makes it; where all workspaces are here, it does nothing. */
export function makeElsewhere(
  parts: Pick<ArtifactParts, 'store' | 'here' | 'removal' | 'clock' | 'log'>,
  notify: Waiting['notify'],
): Elsewhere {
  if (parts.here === null) return NOWHERE_ELSE;
  const { conclude, service } = makeLostWorkspaces({ ...parts, concluded: notify });
  return {
    wait: async (sessionSeq, changed, off) => {
      if (!(await conclude(sessionSeq))) await within(parts.clock, changed, off);
    },
    nodeRemoved: service.wake,
    start: service.wake,
    stop: service.stop,
  };
}

const nothing = () => undefined;
const NOWHERE_ELSE: Elsewhere = {
  wait: async () => undefined,
  nodeRemoved: nothing,
  start: nothing,
  stop: async () => undefined,
};

async function within(clock: Clock, changed: Promise<void>, off: Halt): Promise<void> {
  const over = new AbortController();
  await Promise.race([changed, pause(clock, LOOK_MS, AbortSignal.any([off.signal, over.signal]))]);
  over.abort();
}

interface CollectedParts extends Pick<ArtifactParts, 'store' | 'here'> {
  readonly waiting: Pick<Waiting, 'next' | 'leave'>;
  readonly elsewhere: Pick<Elsewhere, 'wait'>;
  /** Collects a session that is here. */
  look(sessionSeq: number): void;
}

/** Waits until the files of a session are known. */
export interface Known {
  readonly collected: Collected;
  /** Lists the files of a fork, as soon as those are known that it takes over; until it is called off. */
  listFork(sessionSeq: number, off: Halt): Promise<void>;
}

export function makeCollected({ store, here, waiting, elsewhere, look }: CollectedParts): Known {
  const collected: Collected = async (run, off) => {
    const { sessionSeq, seq: runSeq, workspaceNode } = run;
    const isHere = here === null || workspaceNode === here;
    for (let hasLooked = false; ; hasLooked = true) {
      // Before the read, which may find what was so before a change.
      const changed = waiting.next(sessionSeq);
      const before = await store.artifacts.findBefore(sessionSeq, runSeq);
      if (off.isHalted || !before.isUncollected) {
        waiting.leave(sessionSeq, changed);
        if (off.isHalted || !before.isToCopy) return before;
        await listFork(sessionSeq, off);
        return collected(run, off);
      }
      // Once: what a stop holds back until it is confirmed would be looked at again at once, and nothing else would run.
      if (isHere && !hasLooked) look(sessionSeq);
      if (isHere) await changed;
      else await elsewhere.wait(sessionSeq, changed, off);
      waiting.leave(sessionSeq, changed);
    }
  };
  async function listFork(fork: number, off: Halt): Promise<void> {
    const calledOff = new Promise<void>((resolve) => off.listen(resolve));
    while (!off.isHalted) {
      const copying = await store.artifacts.copyWorkspace(fork);
      if (copying.kind === 'done') return;
      if (copying.kind === 'more') continue;
      const { sessionSeq, atRun, workspaceNode } = copying;
      await Promise.race([collected({ sessionSeq, seq: atRun + 1, workspaceNode }, off), calledOff]);
    }
  }
  return { collected, listFork };
}
