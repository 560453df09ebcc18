// Ends the wait of background runs that no worker takes. Sets no timer while none waits.
import type { Clock } from '../../domain/clock.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';

/** While a run waits. A change of the limit is noticed within this time. */
const LOOK_MS = 1_000;
/** So many marks at most, so that a wait may end late by a thousandth of it. */
const MARKS_OF_A_WAIT = 1_000;

export interface QueueWaitParts {
  readonly store: Pick<Store, 'runs'>;
  readonly clock: Clock;
  readonly log: Log;
  settings(): Settings;
}

/** At this moment, on the monotonic clock, every waiting run up to this one had been accepted. */
interface Mark {
  readonly at: number;
  readonly newestSeq: number;
}

/**
 * Makes the service. Wake it when a run was queued. Waits are measured by marks in memory: no moment of this process's clock is
 * in a row, and each start gives every run its whole wait.
 */
export function makeQueueWait({ store: { runs }, clock, log, settings }: QueueWaitParts): Service {
  /** In order, of time and of runs alike. */
  let marks: readonly Mark[] = [];

  async function work(stopping: AbortSignal): Promise<number | null> {
    const waitMs = settings().background.queueWaitSeconds * 1_000;
    const newestSeq = await runs.findNewestQueued();
    if (newestSeq === undefined) {
      marks = [];
      return null;
    }
    const now = clock.monotonic();
    const last = marks.at(-1) ?? { at: -Infinity, newestSeq: 0 };
    const isApart = now - last.at >= waitMs / MARKS_OF_A_WAIT;
    if (isApart && newestSeq > last.newestSeq) marks = [...marks, { at: now, newestSeq }];
    await expire(now - waitMs, stopping);
    const dueAt = (marks[0]?.at ?? now) + waitMs;
    return Math.max(1, Math.min(dueAt - now, LOOK_MS));
  }

  /** Fails the runs that had been accepted by then. */
  async function expire(by: number, stopping: AbortSignal): Promise<void> {
    const due = marks.findLast(({ at }) => at <= by);
    if (due === undefined) return;
    let expired = 0;
    for (let some = Infinity; some > 0 && !stopping.aborted; expired += some)
      some = await runs.expireQueued(due.newestSeq);
    marks = marks.filter(({ at }) => at > by);
    if (expired > 0) log.warn({ runs: expired }, 'background runs waited too long and failed');
  }

  return makeService({ work, failure: 'waits in the queue could not be ended', clock, log });
}
