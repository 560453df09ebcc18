// What happens between the tries of a model call: patience while its server is down, what watchers hear, and a configuration that changes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunError } from '../../../domain/sessions/run.ts';
import { type FailedAt, makeRetries, type NextTry, type RetryPolicy } from '../../models/retries.ts';
import type { Channel } from '../../port/signals.ts';
import type { ModelCall } from './model-call.ts';
import { type ModelFailure, seconds } from './model-failure.ts';
import type { CurrentModel } from './current-model.ts';
import { beginModelWait, type ModelWait } from './model-wait.ts';

/** A longer pause than between other tries is told, too. */
const LONG_PAUSE_MS = 5_000;

/** A call that may have several tries. */
export interface RetriedCall {
  readonly call: ModelCall;
  readonly channel: Channel;
  readonly policy: RetryPolicy;
  /** Of all calls of the agent. */
  readonly current: CurrentModel;
}

export interface Retrying {
  /** The call as the next try makes it. */
  call(): ModelCall;
  /** Decides on a failure, and logs it. Rejects only when the run is stopped. */
  next(failed: FailedCallAt): Promise<NextTry>;
  /** Waits for the next try. Rejects only when the run is stopped. */
  pause(failure: ModelFailure, next: Extract<NextTry, { again: true }>): Promise<void>;
  /** No try follows, or the model has replied. */
  end(answered: boolean): void;
  /** The error of a call that is given up. */
  errorOf(failure: ModelFailure, tried: number, asksTooMuch: boolean): RunError;
}

/** `tried`: with this try. */
interface FailedCallAt extends Omit<FailedAt, 'patienceMs'> {
  readonly failure: ModelFailure;
  readonly tried: number;
}

/** Makes it for one call. */
export function makeRetrying(asked: RetriedCall): Retrying {
  const { call, channel, policy, current } = asked;
  let nextTry = makeRetries(policy);
  let wait: ModelWait | null = null;
  /** Whether what is configured now is another endpoint than the one that was waited for first. */
  let isCorrected = false;
  let patienceMs = call.brief.limits.patienceMs;
  return {
    call: () => {
      const now = current.callOf(call);
      return wait === null ? now : wait.watch(now);
    },
    next: async ({ failure, tried, ...at }) => {
      const startedAt = performance.now();
      patienceMs = await current.patienceFor(failure);
      const leftMs = at.leftMs - (performance.now() - startedAt);
      const next = nextTry(failure, { ...at, leftMs, patienceMs });
      logFailure(asked, { failure, tried, next, patienceMs });
      return next;
    },
    pause: async ({ isDown, error }, { waitMs }) => {
      // It is down as well: the wait for the one before was in vain.
      if (isCorrected) wait?.end(false);
      isCorrected = false;
      const isPatient = isDown && patienceMs > 0;
      if ((isPatient || waitMs > LONG_PAUSE_MS) && wait?.isOver() !== false) {
        const model = call.brief.model.name;
        wait = beginModelWait(channel, {
          model,
          agent: null,
          message: error.message,
          patienceMs: isPatient ? patienceMs : waitMs,
        });
      }
      await sleep(waitMs, undefined, { signal: channel.halt.signal, ref: false });
      if (!(await current.refresh())) return;
      // What is configured now has been asked nothing yet. If it replies, the wait has led to something.
      isCorrected = true;
      nextTry = makeRetries(policy);
    },
    end: (answered) => wait?.end(answered),
    errorOf: ({ error, ...failure }, tried, asksTooMuch) => {
      const isLong = asksTooMuch && failure.waitMs !== null;
      const asks = isLong ? ` It asks to wait ${seconds(failure.waitMs!)} seconds.` : '';
      const tries = tried > 1 ? ` (tried ${tried} times)` : '';
      return { ...error, message: `${error.message}${asks}${current.adviceOn(failure)}${tries}` };
    },
  };
}

interface Failed {
  readonly failure: ModelFailure;
  readonly tried: number;
  readonly next: NextTry;
  readonly patienceMs: number;
}

/** A server that is still down is not reported again. */
function logFailure({ channel }: RetriedCall, { failure, tried, next, patienceMs }: Failed): void {
  if (next.again && next.isWaiting) return;
  const { error, said, isDown } = failure;
  channel.send({
    t: 'log',
    level: 'warn',
    message: next.again ? 'The model call failed and is retried.' : 'The model call failed.',
    facts: {
      error: error.message,
      tried,
      ...(next.again ? { waitMs: next.waitMs } : {}),
      ...(next.again && isDown ? { patienceMs } : {}),
      ...(said === null ? {} : { server_said: said }),
    },
  });
}
