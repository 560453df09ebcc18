// One step's model call with its retries: budgets, permits, backoff, and when a retry can't help.
import type { CallPurpose, CallTiming, Pace } from '../../domain/sessions/call-timing.ts';
import type { FailedCall } from '../../domain/sessions/model-call.ts';
import type { RunError } from '../../domain/sessions/run.ts';
import { holdBudget } from './hold-budget.ts';
import type { CallUsage } from '../../domain/sessions/usage.ts';
import { callModel, type CallEnd, CallStopped, type ModelCall, type ModelReply } from './call/model-call.ts';
import { makeRetrying, type RetriedCall } from './call/retrying.ts';
import type { Channel } from '../port/signals.ts';

export interface Asking extends RetriedCall {
  readonly purpose: Extract<CallPurpose, 'reply' | 'summary'>;
  /** When the run's time limit ends, on the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** What this side knows of a call's timing. */
export type AskTiming = Omit<CallTiming, 'commitWaitMs'>;

/**
 * `outcome`: of the last try; null when a budget is used up. `isTooLong`: the call was longer than the server takes, and no text
 * of a reply was streamed.
 */
export type Asked = { readonly timing: AskTiming } & (
  | { readonly ok: true; readonly reply: ModelReply }
  | { readonly ok: false; readonly error: RunError; readonly outcome: FailedCall | null; readonly isTooLong: boolean }
);

/**
 * Asks the model for one step. 429, 5xx, connection errors and replies that broke off are retried with jittered backoff, for as long as
 * the run has patience when the server is down (D8). What was streamed of a reply that broke off is discarded: the next one begins a
 * new block. A reply that says nothing is asked for once more. The server's own error message goes to the log. A permit is held during
 * each attempt, never while waiting. Rejects only when the run is stopped.
 */
export async function askModel(asking: Asking): Promise<Asked> {
  const { channel, endsAt, current } = asking;
  const askedAt = performance.now();
  const waits: Waits = { budgetWaitMs: 0, permitWaitMs: 0 };
  const retrying = makeRetrying(asking);
  let wasEmpty = false;
  const timed = (tries: number, pace: Pace) => timingOf({ tries, ...waits, ...pace }, performance.now() - askedAt);
  for (let tried = 1; ; tried += 1) {
    const end = await tryOnce(retrying.call(), channel, waits).catch((error: unknown) => {
      if (!(error instanceof CallStopped)) throw error;
      report(asking, { outcome: 'stopped', used: error.used, timing: timed(tried, error.pace) });
      throw error.cause;
    });
    if ('refusal' in end) {
      retrying.end(false);
      return { ok: false, error: end.refusal, outcome: null, isTooLong: false, timing: timed(tried - 1, NOT_ASKED) };
    }
    const timing = timed(tried, end.pace);
    const hasBegun = end.pace.firstTokenMs !== null;
    if (end.ok || hasBegun) current.answers();
    if (end.ok) {
      retrying.end(true);
      if (wasEmpty || !end.isEmpty) return { ok: true, reply: end.reply, timing };
      wasEmpty = true;
      const { usage, estimated } = end.reply;
      report(asking, { outcome: 'failed', used: { usage, estimated }, timing });
      logEmptyReply(asking);
      if (end.streamed) channel.send({ t: 'discard' });
      continue;
    }
    const { failure, streamed, used } = end;
    report(asking, { outcome: failure.outcome, used, timing });
    const now = performance.now();
    const atMs = now - askedAt - waits.budgetWaitMs - waits.permitWaitMs;
    const next = await retrying.next({ failure, tried, hasBegun, atMs, leftMs: endsAt - now });
    if (!next.again) {
      retrying.end(false);
      // A reader has seen the text of a reply that has begun.
      const isTooLong = failure.isTooLong === true && !streamed;
      const error = retrying.errorOf(failure, tried, next.asksTooMuch);
      return { ok: false, error, outcome: failure.outcome, isTooLong, timing };
    }
    if (streamed) channel.send({ t: 'discard' });
    await retrying.pause(failure, next);
  }
}

function logEmptyReply({ call, channel }: Asking): void {
  const message = 'The model replied with nothing, or with thinking alone, and is asked once more.';
  channel.send({ t: 'log', level: 'warn', message, facts: { model: call.brief.model.name } });
}

/** Reports a try that brought no reply, with what it has used all the same. */
function report(
  { call, channel, purpose }: Asking,
  failed: { readonly outcome: FailedCall | 'stopped'; readonly used: CallUsage | null; readonly timing: AskTiming },
): void {
  const timing = { ...failed.timing, commitWaitMs: 0 };
  channel.send({ t: 'call-failed', model: call.brief.model.name, purpose, agent: null, ...failed, timing });
}

/** What is neither the last try nor a wait went to failed tries and the pauses after them. */
function timingOf(known: Omit<AskTiming, 'retryWaitMs'>, totalMs: number): AskTiming {
  const { tries, durationMs, budgetWaitMs, permitWaitMs } = known;
  const restMs = tries <= 1 ? 0 : totalMs - durationMs - budgetWaitMs - permitWaitMs;
  return { ...known, retryWaitMs: Math.max(0, Math.round(restMs)) };
}

const NOT_ASKED: Pace = { firstTokenMs: null, durationMs: 0 };

/** How long a call has waited to be let in, over all its tries. */
type Waits = { -readonly [W in 'budgetWaitMs' | 'permitWaitMs']: number };

/** How a try ended; `refusal`: a budget is used up, and the model was not asked. */
type Tried = CallEnd | { readonly refusal: RunError };

/** The budget comes before the permit: a run that waits for it takes no place at the endpoint. */
async function tryOnce(call: ModelCall, channel: Channel, waits: Waits): Promise<Tried> {
  const { metered, name } = call.brief.model;
  const letIn = async <T>(wait: keyof Waits, waiting: Promise<T>): Promise<T> => {
    const since = performance.now();
    try {
      return await waiting;
    } catch (error) {
      throw call.halt.isHalted ? new CallStopped(error, { used: null, pace: NOT_ASKED }) : error;
    } finally {
      waits[wait] += Math.round(performance.now() - since);
    }
  };
  const refusal = await letIn('budgetWaitMs', holdBudget(call, channel));
  if (refusal !== null) return { refusal };
  if (metered) await letIn('permitWaitMs', channel.takePermit(name));
  try {
    return await callModel(call);
  } finally {
    if (metered) channel.returnPermit();
  }
}
