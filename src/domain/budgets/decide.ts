// The rule of budgets: whether a model call may begin, and the words of a refusal.
import { isoTime } from '../clock.ts';
import type { RunError } from '../sessions/run.ts';
import { type Price, totalTokens, type Usage } from '../sessions/usage.ts';
import type { Amounts, BudgetPeriod, BudgetSubject, UsedUp } from './budget.ts';

/** A budget before a call, in its own unit. `reserved`: for other calls in progress; `need`: the most the call may use. */
export interface Balance {
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly need: number;
}

/** `wait`: other calls in progress hold back what is left. */
export type Verdict = 'granted' | 'wait' | 'used up';

/**
 * A call begins when all it may use is left, or when nothing is held back for others: the last call before the limit is made
 * alone. So a budget can be used up, whatever calls may use at most, and is exceeded by less than one call.
 */
export function decide({ limit, spent, reserved, need }: Balance): Verdict {
  if (spent >= limit) return 'used up';
  return reserved === 0 || spent + reserved + need <= limit ? 'granted' : 'wait';
}

/** What a call may use at most: its prompt at the highest price of input, and the longest reply. */
export function mostOf(call: Pick<Usage, 'inputTokens' | 'outputTokens'>, price: Price): Amounts {
  const { inputPerMillionUsd, cacheReadPerMillionUsd, cacheWritePerMillionUsd, outputPerMillionUsd } = price;
  const inputPrice = Math.max(inputPerMillionUsd, cacheReadPerMillionUsd, cacheWritePerMillionUsd);
  const usd = (call.inputTokens * inputPrice + call.outputTokens * outputPerMillionUsd) / 1_000_000;
  return { tokens: totalTokens(call), usd };
}

const WHOSE: Readonly<Record<BudgetSubject, string>> = {
  key: 'this API key',
  user: 'this user',
  team: 'the team',
  run: 'a run',
};
/** The period, in words that follow a name. */
export const WHICH: Readonly<Record<BudgetPeriod, string>> = {
  day: ' for this day',
  month: ' for this month',
  all: '',
};

/** Why a call or a turn is refused, without any amount: callers may not know those of their team. */
export function wordsOf({ subject, period, renewsAt }: UsedUp): string {
  const renewal = renewsAt === null ? 'It does not renew.' : `It renews at ${isoTime(renewsAt)}.`;
  return `The budget of ${WHOSE[subject]}${WHICH[period]} is used up. ${renewal}`;
}

/** The error of a run that met a budget. Another turn of the same kind has a budget of its own only with the next period. */
export function budgetErrorOf(usedUp: UsedUp): RunError {
  return { type: 'budget_error', message: wordsOf(usedUp), retryable: usedUp.renewsAt !== null };
}

/** When a refused turn may be tried again; null for a budget that never renews. */
export function secondsUntilRenewal({ renewsAt }: UsedUp, now: number): number | null {
  return renewsAt === null ? null : Math.max(1, Math.ceil((renewsAt - now) / 1_000));
}
