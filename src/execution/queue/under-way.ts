// The runs under way in this process.
import type { Conduct } from '../conduct/conduct.ts';

export interface UnderWay {
  add(conduct: Conduct): void;
  count(): number;
  runSeqs(): readonly number[];
  /** Asks every run to go back to the queue. */
  drain(): void;
  /** Asks the executor of one run, or those of a session's runs, to stop; resolves when they have ended. */
  stop(which: StopTarget): Promise<void>;
  /** Resolves when none is under way. */
  idle(): Promise<void>;
}

/** The runs of a session, or the one run of it. */
export interface StopTarget {
  readonly sessionSeq: number;
  readonly runSeq: number | null;
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
    stop: async ({ sessionSeq, runSeq }) => {
      const aimed = Array.from(conducts).filter(
        (conduct) => conduct.sessionSeq === sessionSeq && (runSeq === null || conduct.runSeq === runSeq),
      );
      for (const conduct of aimed) conduct.abort('stop');
      await Promise.all(aimed.map((conduct) => conduct.ended));
    },
    idle: async () => {
      while (conducts.size > 0) await Promise.all(Array.from(conducts, (conduct) => conduct.ended));
    },
  };
}
