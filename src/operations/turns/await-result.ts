// Waits for a run: the reply to a request without a stream (C7, C8).
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { HALTED, type Halt } from '../../domain/halt.ts';
import { isTerminal, type Run } from '../../domain/sessions/run.ts';
import type { Settings } from '../../domain/settings.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Tails } from '../../events/tail.ts';
import type { Store } from '../../store/open-store.ts';

export interface AwaitParts {
  readonly store: Pick<Store, 'runs'>;
  readonly tails: Tails;
  readonly clock: Clock;
  settings(): Settings;
  /** Fires when waiting requests must end because the daemon does. */
  readonly draining: AbortSignal;
}

/**
 * Makes the verb: the run once it is terminal. Throws `wait_timeout` after `wait_timeout_seconds` (the run continues),
 * `unavailable` when the daemon ends first; rejects when the client has left.
 */
export function makeAwaitResult({ store, tails, clock, settings, draining }: AwaitParts) {
  return async (_caller: KeyCaller, run: Run, left: Halt): Promise<Run> => {
    if (isTerminal(run.status)) return run;
    await new Promise<void>((resolve, reject) => {
      const settle = (outcome: () => void) => () => {
        timer.cancel();
        tail.close();
        left.leave(leave);
        draining.removeEventListener('abort', drain);
        outcome();
      };
      const leave = settle(() => reject(HALTED));
      const drain = settle(() =>
        reject(new ErrandError('unavailable', 'The server is restarting; the run continues afterwards.')),
      );
      const expire = settle(() =>
        reject(new ErrandError('wait_timeout', 'The run has not finished yet; it continues.')),
      );
      const timer = clock.after(settings().waitTimeoutSeconds * 1_000, expire);
      draining.addEventListener('abort', drain);
      const tail = tails.await(run, { end: settle(resolve), failed: (error) => settle(() => reject(error))() });
      left.listen(leave);
      if (draining.aborted) drain();
    });
    return { ...run, ...(await store.runs.getOutcome(run.seq)) };
  };
}
