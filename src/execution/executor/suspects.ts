// Runs that may have ended the thread they shared with others. They are executed again alone, where a loss is their own.
import type { WorkerEnd } from './thread-group.ts';

/** More than runs can be under way; what goes beyond was stopped meanwhile, and is forgotten. */
const MAX_KNOWN = 10_000;

export interface Suspects {
  has(runId: string): boolean;
  /** Takes in how a run left its worker. Answers whether its loss counts against it (D7). */
  judge(runId: string, end: WorkerEnd, wasAlone: boolean): boolean;
}

/**
 * Nobody can tell which of a thread's runs has ended it, so that none is charged. Those that were at work become suspects;
 * those that waited for their model go back among the others, and become suspects when they are lost a second time.
 */
export function makeSuspects(): Suspects {
  const known = new Map<string, 'seen' | 'suspect'>();
  return {
    has: (runId) => known.get(runId) === 'suspect',
    judge: (runId, end, wasAlone) => {
      const before = known.get(runId);
      known.delete(runId);
      if (end.kind === 'done') return false;
      known.set(runId, end.wasWaiting && before === undefined ? 'seen' : 'suspect');
      if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
      return wasAlone;
    },
  };
}
