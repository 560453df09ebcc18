// Runs: list, show, follow, poll and stop.
import type { Run, RunStatus } from '../../domain/sessions/run.ts';
import type { StopResult } from '../../domain/sessions/stop.ts';
import type { Administrator, Caller, KeyCaller } from '../../domain/people/user.ts';
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Store } from '../../store/open-store.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import type { RunRecord } from '../../store/runs/run-records.ts';
import type { Access } from '../access.ts';
import { type Audit, unlessDeleted } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';
import { stopCauseOf } from '../sessions/sessions.ts';

/** Null means no filter. */
export interface RunQuery extends Page {
  readonly sessionId: string | null;
  readonly status: RunStatus | null;
}

/** A background run and its place in the queue, from 1, while it waits (§4.5). */
export interface BackgroundRun {
  readonly run: Run;
  readonly queuePosition: number | null;
}

export interface RunOperationParts {
  readonly store: Pick<Store, 'runs'>;
  readonly access: Pick<Access, 'run' | 'backgroundRun'>;
  readonly auditedAccess: Pick<AuditedAccess, 'session' | 'run' | 'runToFollow'>;
  readonly stopper: Pick<Stopper, 'stopRun'>;
  readonly audit: Pick<Audit, 'change'>;
  /** Throws `rate_limited`. */
  countPoll(keySeq: number): void;
}

/** The verbs on runs. Those that take an id throw as `Access.run` does. */
export function makeRunOperations({ store, access, auditedAccess, stopper, audit, countPoll }: RunOperationParts) {
  async function withPosition(_caller: KeyCaller, run: Run): Promise<BackgroundRun> {
    return { run, queuePosition: run.status === 'queued' ? await store.runs.queuePosition(run.seq) : null };
  }

  return {
    /** All users' runs, the newest first. */
    listRuns: async (caller: Administrator, { sessionId, status, ...page }: RunQuery): Promise<Listing<RunRecord>> => {
      const session = sessionId === null ? null : await auditedAccess.session(caller, sessionId);
      return store.runs.list({ sessionSeq: session?.seq ?? null, status, ...page });
    },

    getRun: auditedAccess.run,

    /** A run whose stream will be followed (C12). */
    followRun: auditedAccess.runToFollow,

    /** The state of a background run. Throws `rate_limited`, and `not_found` for any other run. */
    pollRun: async (caller: KeyCaller, id: string): Promise<BackgroundRun> => {
      countPoll(caller.key.seq);
      return withPosition(caller, await access.backgroundRun(caller, id));
    },

    withPosition,

    /** Stops one run. Then the next run of its session is executed. */
    stopRun: async (caller: Caller, id: string): Promise<StopResult> => {
      const run = await access.run(caller, id);
      return stopper.stopRun(run, stopCauseOf(caller), audit.change(caller, 'run.stop', unlessDeleted(run)));
    },
  };
}
