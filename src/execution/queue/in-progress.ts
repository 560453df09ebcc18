// The runs in progress in this process.
import type { Progress } from '../../store/runs/fence.ts';
import type { Execution } from '../executor/executor.ts';

export interface RunsInProgress {
  add(execution: Execution): void;
  count(): number;
  held(): readonly Progress[];
  /** Asks every run to return to the queue. */
  release(why: 'drain' | 'unavailable'): void;
  /** Whether a run of the session is in progress. */
  has(sessionSeq: number): boolean;
  /**
   * Asks the executor of one run, or those of a session's runs, to stop. Resolves when none of the session is left: one that was asked
   * before may still work in the workspace.
   */
  stop(which: StopTarget): Promise<void>;
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
}

/** The runs of a session, or one run of it. */
export interface StopTarget {
  readonly sessionSeq: number;
  readonly runSeq: number | null;
}

/** An empty set of runs; `ended` is called after each one's end. */
export function makeRunsInProgress(ended: () => void): RunsInProgress {
  const executions = new Set<Execution>();
  return {
    add: (execution) => {
      executions.add(execution);
      void execution.ended.then(() => {
        executions.delete(execution);
        ended();
      });
    },
    count: () => executions.size,
    held: () => Array.from(executions, (execution) => execution.progress()),
    release: (why) => {
      for (const execution of executions) execution.abort(why);
    },
    has: (sessionSeq) => Array.from(executions).some((execution) => execution.sessionSeq === sessionSeq),
    stop: async ({ sessionSeq, runSeq }) => {
      const ofSession = Array.from(executions).filter((execution) => execution.sessionSeq === sessionSeq);
      for (const execution of ofSession) if (runSeq === null || execution.runSeq === runSeq) execution.abort('stop');
      await Promise.all(ofSession.map((execution) => execution.ended));
    },
    idle: async () => {
      while (executions.size > 0) await Promise.all(Array.from(executions, (execution) => execution.ended));
    },
  };
}
