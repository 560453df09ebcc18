// One step's model call with its retries: budgets, permits, backoff, and when a retry can't help.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallTiming, Pace } from '../../domain/sessions/call-timing.ts';
import type { RunError } from '../../domain/sessions/run.ts';
import { holdBudget } from './hold-budget.ts';
import { callModel, type CallEnd, type ModelCall, type ModelReply } from './model-call.ts';
import { type ModelFailure, seconds } from './model-failure.ts';
import type { Channel } from '../port/signals.ts';

/** How often and how long a model call is retried (D8). */
export interface RetryPolicy {
  readonly tries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A server that asks for a longer wait has failed. */
  readonly maxRetryAfterMs: number;
}

export const RETRY_POLICY: RetryPolicy = {
  tries: 5,
  firstDelayMs: 500,
  maxDelayMs: 16_000,
  maxRetryAfterMs: 600_000,
};

export interface Asking {
  readonly call: ModelCall;
  readonly channel: Channel;
  readonly policy: RetryPolicy;
  /** When the run's time limit ends, on the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** What this side knows of a call's timing. */
export type AskTiming = Omit<CallTiming, 'commitWaitMs'>;

export type Asked = { readonly timing: AskTiming } & (
  | { readonly ok: true; readonly reply: ModelReply }
  | { readonly ok: false; readonly error: RunError }
);

/**
 * Asks the model for one step. 429, 5xx and connection errors are retried with jittered backoff, but never after text of the
 * reply was streamed (D8). The server's own error message goes to the log. A permit is held during each attempt, never while
 * waiting. Rejects only when the run is stopped.
 */
export async function askModel(asking: Asking): Promise<Asked> {
  const { call, channel, policy, endsAt } = asking;
  const askedAt = performance.now();
  let permitWaitMs = 0;
  for (let tried = 1; ; tried += 1) {
    const { waitedMs, ...end } = await callWithPermits(call, channel);
    permitWaitMs += waitedMs;
    if ('refusal' in end) {
      const timing = timingOf({ tries: tried - 1, permitWaitMs, ...NOT_ASKED }, performance.now() - askedAt);
      return { ok: false, error: end.refusal, timing };
    }
    const timing = timingOf({ tries: tried, permitWaitMs, ...end.pace }, performance.now() - askedAt);
    if (end.ok) return { ok: true, reply: end.reply, timing };
    const { failure, streamed } = end;
    const { outcome } = failure;
    channel.send({ t: 'call-failed', model: call.brief.model.name, outcome, heldBudgets: channel.hasBudgets() });
    const waitMs = delayMs(tried, failure, policy);
    const waitIsUseful = waitMs < endsAt - performance.now() && (failure.waitMs ?? 0) <= policy.maxRetryAfterMs;
    const isOver = streamed || !failure.again || tried >= policy.tries || !waitIsUseful;
    const { error, said } = failure;
    channel.send({
      t: 'log',
      level: 'warn',
      message: isOver ? 'The model call failed.' : 'The model call failed and is retried.',
      facts: {
        error: error.message,
        tried,
        ...(isOver ? {} : { waitMs }),
        ...(said === null ? {} : { server_said: said }),
      },
    });
    if (isOver) return { ok: false, error: withTries(failure, tried, waitIsUseful), timing };
    await sleep(waitMs, undefined, { signal: channel.signal, ref: false });
  }
}

/** What is neither the last try nor a wait for a permit went to failed tries and the pauses after them. */
function timingOf(known: Omit<AskTiming, 'retryWaitMs'>, totalMs: number): AskTiming {
  const restMs = known.tries <= 1 ? 0 : totalMs - known.durationMs - known.permitWaitMs;
  return { ...known, retryWaitMs: Math.max(0, Math.round(restMs)) };
}

const NOT_ASKED: Pace = { firstTokenMs: null, durationMs: 0 };

/** How a try ended; `refusal`: a budget is used up, and the model was not asked. */
type Tried = { readonly waitedMs: number } & (CallEnd | { readonly refusal: RunError });

/** The budget comes before the permit: a run that waits for it takes no place at the endpoint. */
async function callWithPermits(call: ModelCall, channel: Channel): Promise<Tried> {
  const { metered, name } = call.brief.model;
  const wantedAt = performance.now();
  const refusal = await holdBudget(call, channel);
  if (refusal !== null) return { refusal, waitedMs: Math.round(performance.now() - wantedAt) };
  if (metered) await channel.takePermit(name);
  const waitedMs = Math.round(performance.now() - wantedAt);
  try {
    return { ...(await callModel(call)), waitedMs };
  } finally {
    if (metered) channel.returnPermit();
  }
}

/** Half of the backoff is fixed and half is random, so that runs that failed together do not retry together. */
function delayMs(tried: number, failure: ModelFailure, policy: RetryPolicy): number {
  const backoffMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (tried - 1));
  return Math.round(Math.max(failure.waitMs ?? 0, backoffMs * (0.5 + Math.random() / 2)));
}

function withTries({ error, waitMs }: ModelFailure, tried: number, waitIsUseful: boolean): RunError {
  const wait = waitIsUseful || waitMs === null ? '' : ` It asks to wait ${seconds(waitMs)} seconds.`;
  const tries = tried > 1 ? ` (tried ${tried} times)` : '';
  return { ...error, message: `${error.message}${wait}${tries}` };
}
