// Where the time of a run went.
import type { Clock } from '../../domain/clock.ts';
import { type SlowPart, slowPartsOf } from '../../domain/sessions/timeline/slow-spans.ts';
import { type KindSum, kindSumsOf, type StepSum, stepSumsOf } from '../../domain/sessions/timeline/sums.ts';
import type { Timeline } from '../../domain/sessions/timeline/timeline.ts';
import { type Caller, ownerOf } from '../../domain/people/user.ts';
import type { Slices } from '../../domain/loop/slices.ts';
import type { Store } from '../../store/open-store.ts';
import type { RunRecord } from '../../store/runs/run-records.ts';
import { readTimeline } from '../../store/runs/run-timeline.ts';
import type { AuditedAccess } from '../audited-access.ts';

/** A run and its time line as it was at a moment, with its sums and what was slow. */
export interface Explanation {
  readonly run: RunRecord;
  readonly timeline: Timeline;
  readonly asOf: number;
  /** From its acceptance to its end, or to that moment. */
  readonly totalMs: number;
  readonly totals: readonly KindSum[];
  readonly steps: readonly StepSum[];
  readonly slow: readonly SlowPart[];
}

export interface ExplainParts {
  readonly store: Pick<Store, 'runs'>;
  readonly auditedAccess: Pick<AuditedAccess, 'run'>;
  readonly clock: Clock;
  readonly slices: Slices;
}

/** The verb. Throws as `Access.run` does. */
export function makeExplainRun({ store, auditedAccess, clock, slices }: ExplainParts) {
  return async (caller: Caller, id: string): Promise<Explanation> => {
    const run = await auditedAccess.run(caller, id);
    const pause = slices.of(ownerOf(caller));
    const timeline = await readTimeline(store.runs, run, pause);
    await pause();
    return explain(run, timeline, clock.now());
  };
}

/** The explanation of a time line. */
export function explain(run: RunRecord, timeline: Timeline, now: number): Explanation {
  return {
    run,
    timeline,
    asOf: now,
    totalMs: Math.max(0, (run.finishedAt ?? now) - run.createdAt),
    totals: kindSumsOf(timeline, now),
    steps: stepSumsOf(timeline, now),
    slow: slowPartsOf(timeline, now),
  };
}
