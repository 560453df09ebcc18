// Background runs as their submitter sees them (§4.5).
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { Run } from '../../domain/run.ts';
import type { KeyCaller } from '../../domain/user.ts';
import type { Store } from '../../store/open-store.ts';

/** A background run and its place in the queue, from 1, while it waits. */
export interface BackgroundRun {
  readonly run: Run;
  readonly queuePosition: number | null;
}

export interface BackgroundParts {
  readonly store: Store;
  /** Throws `rate_limited`. */
  countPoll(keySeq: number): void;
}

/** The verbs on background runs. */
export function makeBackgroundRuns({ store, countPoll }: BackgroundParts) {
  async function withPosition(run: Run): Promise<BackgroundRun> {
    return { run, queuePosition: run.status === 'queued' ? await store.runs.queuePosition(run.seq) : null };
  }

  return {
    withPosition,

    /**
     * The state of a background run. Throws `rate_limited`, `not_found` for an unknown run or one that is not a
     * background run, `forbidden` for another key's.
     */
    pollRun: async (caller: KeyCaller, runId: string): Promise<BackgroundRun> => {
      countPoll(caller.key.seq);
      const run = await store.runs.find(runId);
      if (run === undefined || run.scheduleMode !== 'background') throw notFound('Background run');
      if (run.keySeq !== caller.key.seq) throw new ErrandError('forbidden', 'The run belongs to another API key.');
      return withPosition(run);
    },
  };
}
