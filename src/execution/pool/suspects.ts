// Runs that may have crashed a thread that they shared with others. They are executed again alone, so that a further loss is
// clearly theirs.
import type { WorkerEnd } from './run-on-thread.ts';

/** More than runs can be in progress; older entries were stopped meanwhile, and are dropped. */
const MAX_KNOWN = 10_000;

export interface Suspects {
  has(runId: string): boolean;
  /** Evaluates how a run left its worker. Returns whether its loss counts against it (D7). */
  judge(runId: string, end: WorkerEnd, wasAlone: boolean): boolean;
}

/**
 * It is unknown which of a thread's runs has crashed it, so none is charged. Those that were executing become suspects; those
 * that waited for their model are executed with others again, and become suspects when they are lost a second time.
 */
export function makeSuspects(): Suspects {
  const known = new Map<string, 'seen' | 'suspect'>();
  return {
    has: (runId) => known.get(runId) === 'suspect',
    judge: (runId, end, wasAlone) => {
      // No run has a part in that.
      if (end.kind === 'lost' && end.wasRefused) return false;
      const before = known.get(runId);
      known.delete(runId);
      if (end.kind === 'done') return false;
      known.set(runId, end.wasWaiting && before === undefined ? 'seen' : 'suspect');
      if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
      return wasAlone;
    },
  };
}
