// The ends of model calls: each holds its budgets until what it has used is committed, or nothing is left to commit.
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { retryEachSecond } from '../../services/retry.ts';
import type { HeldCall } from '../../store/budgets/held-call.ts';
import { StorageRefusal } from '../../store/engine/storage-refusal.ts';
import type { Store } from '../../store/open-store.ts';
import type { Fence } from '../../store/runs/fence.ts';

export interface CallEnds {
  /** What the call has used is being recorded. */
  settles(call: HeldCall, recorded: Promise<boolean>): void;
  /** The call has cost nothing. */
  letGo(call: HeldCall): void;
  /** The attempt has ended: records what is still held with the estimate of its prompt. */
  attemptEnded(attempt: Fence): Promise<void>;
}

export interface CallEndsParts {
  readonly budgets: Pick<Store['budgets'], 'release' | 'forget' | 'settleLost' | 'heldOf'>;
  readonly clock: Clock;
  readonly log: Log;
  /** There may be room for others. */
  freed(): void;
}

export function makeCallEnds({ budgets, clock, log, freed }: CallEndsParts): CallEnds {
  /** Calls that have ended, until what they have used is committed. */
  const settling = new Map<HeldCall, Promise<void>>();
  /** Calls that are being ended here. */
  const ending = new Set<HeldCall>();

  function release(call: HeldCall): void {
    budgets.release(call);
    freed();
  }

  /** Where the storage refuses it, each second until it is done: others could not use what a call holds. Resolves after the first try. */
  async function end(call: HeldCall, work: (call: HeldCall) => Promise<unknown>): Promise<void> {
    ending.add(call);
    const refused = Promise.withResolvers<void>();
    let isRefused = false;
    const failed = (error: unknown) => {
      if (!isRefused) log.error({ err: error }, 'the end of a model call could not be recorded');
      if (!(error instanceof StorageRefusal)) throw error;
      isRefused = true;
      refused.resolve();
    };
    const ended = retryEachSecond(clock, () => work(call), failed)
      .catch(() => undefined)
      .then(() => {
        ending.delete(call);
        release(call);
      });
    await Promise.race([ended, refused.promise]);
  }

  return {
    settles: (call, recorded) => {
      // Whoever records it reports a failure. The call then stays held until its attempt has ended.
      const settled = recorded
        .catch(() => false)
        .then((isRecorded) => {
          settling.delete(call);
          if (isRecorded) release(call);
          else freed();
        });
      settling.set(call, settled);
    },
    letGo: (call) => void end(call, budgets.forget),
    attemptEnded: async (attempt) => {
      for (const call of budgets.heldOf(attempt)) await settling.get(call);
      for (const call of budgets.heldOf(attempt)) if (!ending.has(call)) await end(call, budgets.settleLost);
    },
  };
}
