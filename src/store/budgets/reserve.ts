// Reservations: what a model call may use at most is held back before it begins, until its usage is recorded.
import type { UsedUp } from '../../domain/budgets/budget.ts';
import { decide } from '../../domain/budgets/decide.ts';
import type { PeriodOf } from '../../domain/budgets/period.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { type BudgetRow, listApplying, type Payer, readSpent, termsOf } from './budget-rows.ts';
import { type CallToHold, type HeldCall, type HeldCalls, reservedBy } from './held-calls.ts';
import type { BudgetsInForce } from './in-force.ts';
import type { BudgetWarnings } from './warnings.ts';

/**
 * `granted`: without a `held` where no budget applies. `gone`: the attempt no longer holds its run. `wait`: calls in progress
 * hold back what is left of these budgets, or others wait for them already.
 */
export type Reservation =
  | { readonly kind: 'granted'; readonly held: HeldCall | null }
  | { readonly kind: 'gone' }
  | { readonly kind: 'wait'; readonly budgets: readonly number[] }
  | { readonly kind: 'used up'; readonly budget: UsedUp };

/** What of the budgets the verbs on rows share. */
export interface BudgetKit {
  readonly inForce: BudgetsInForce;
  readonly held: HeldCalls;
  readonly periodOf: PeriodOf;
  readonly warnings: BudgetWarnings;
}

interface CallingRow extends Payer {
  readonly tokens: number;
  readonly usd: number;
}

interface Asking {
  readonly now: number;
  /** Budgets that calls which came earlier wait for. */
  readonly awaited: ReadonlySet<number>;
}

/** The verb on reservations: one at a time, so that no other call is held meanwhile. It writes nothing. */
export function makeReservations({ read }: Database, { inForce, held, periodOf }: BudgetKit) {
  const reserve = read(function* (tx: Reader, call: CallToHold, { now, awaited }: Asking): Step<Reservation> {
    // Before any row is read: a call that is released meanwhile may be missing from what is spent then, and must count as held.
    const others = held.list();
    if (!(yield* inForce.any(tx))) return { kind: 'granted', held: null };
    const run = yield* readCalling(tx, call);
    if (run === undefined) return { kind: 'gone' };
    const rows = yield* listApplying(tx, run);
    if (rows.length === 0) return { kind: 'granted', held: null };
    const budgets: number[] = [];
    for (const row of rows) {
      const { startsAt, endsAt } = periodOf(termsOf(row), now);
      const isOfRun = row.subject === 'run';
      const spent = isOfRun ? run[row.unit] : yield* readSpent(tx, row.seq, startsAt);
      const reserved = isOfRun ? 0 : reservedBy(others, row, call.runSeq);
      const verdict = decide({ limit: row.amount, spent, reserved, need: call.most[row.unit] });
      if (verdict === 'used up') return { kind: 'used up', budget: usedUp(row, endsAt) };
      if (verdict === 'wait' || awaited.has(row.seq)) budgets.push(row.seq);
    }
    if (budgets.length > 0) return { kind: 'wait', budgets };
    const { keySeq, userSeq, teamId } = run;
    const granted: HeldCall = { ...call, payer: { keySeq, userSeq, teamId } };
    held.hold(granted);
    return { kind: 'granted', held: granted };
  });
  let last: Promise<unknown> = Promise.resolve();
  return {
    /** Holds back what a call may use at most, in every budget that applies to its run; or in none. */
    reserve: (call: CallToHold, asking: Asking): Promise<Reservation> => {
      const next = last.then(() => reserve(call, asking));
      last = next.catch(() => undefined);
      return next;
    },
  };
}

const usedUp = ({ subject, period }: BudgetRow, renewsAt: number | null): UsedUp => ({ subject, period, renewsAt });

/** The run of an attempt that holds it. Its team is the one that the ledger charges. */
function* readCalling(tx: Reader, { runSeq, attempt }: CallToHold): Step<CallingRow | undefined> {
  return yield* tx.get<CallingRow>(
    `SELECT r.key_seq, r.user_seq, coalesce(u.team_id, r.team_id) AS "teamId",
       r.input_tokens + r.output_tokens AS tokens, r.cost_usd AS usd
     FROM runs r JOIN users u ON u.seq = r.user_seq WHERE r.seq = ? AND r.attempt = ? AND r.status = 'running'`,
    runSeq,
    attempt,
  );
}
