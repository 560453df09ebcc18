// The runs under way in this process.
import type { Conduct } from './conduct.ts';

export interface UnderWay {
  add(conduct: Conduct): void;
  count(): number;
  runSeqs(): readonly number[];
  /** Asks every run to go back to the queue. */
  drain(): void;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

/** An empty set of runs; `ended` is called after each one's end. */
export function makeUnderWay(ended: () => void): UnderWay {
  const conducts = new Set<Conduct>();
  return {
    add: (conduct) => {
      conducts.add(conduct);
      void conduct.ended.then(() => {
        conducts.delete(conduct);
        ended();
      });
    },
    count: () => conducts.size,
    runSeqs: () => Array.from(conducts, (conduct) => conduct.runSeq),
    drain: () => {
      for (const conduct of conducts) conduct.abort('drain');
    },
    idle: async () => {
      while (conducts.size > 0) await Promise.all(Array.from(conducts, (conduct) => conduct.ended));
    },
  };
}
