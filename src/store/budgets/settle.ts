// Settles a model call: what it has used is added to the budgets that pay for it, in the commit that records the call.
import { type Amounts, WARNING_SHARE } from '../../domain/budgets/budget.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { type BudgetRow, listOfPayer, type Payer, termsOf } from './budget-rows.ts';
import type { BudgetKit } from './budget-kit.ts';

/** A recorded call. */
export interface SettledCall extends Payer {
  readonly used: Amounts;
}

/** A budget of which most is used, for the first time in its period. */
export interface Exceeding {
  readonly row: BudgetRow;
  readonly renewsAt: number | null;
  readonly spent: number;
}

/** Periods of a budget that are kept: as many as a clock may be put back. */
const KEPT_PERIODS = 40;

const WARN = 'UPDATE budget_periods SET warned = 1 WHERE budget_seq = ? AND starts_at = ? AND warned = 0';

/** Adds the call. Returns the budgets to warn of. */
export function* settleIn(tx: Transaction, { periodOf }: BudgetKit, call: SettledCall): Step<Exceeding[]> {
  const nearly: Exceeding[] = [];
  for (const row of yield* listOfPayer(tx, call)) {
    const { startsAt, endsAt } = periodOf(termsOf(row), tx.now);
    const { spent, warned } = yield* addSpent(tx, row.seq, startsAt, call.used[row.unit]);
    if (warned === 1 || spent < row.amount * WARNING_SHARE) continue;
    // Another call may have warned since.
    if ((yield* tx.count(WARN, row.seq, startsAt)) === 1) nearly.push({ row, renewsAt: endsAt, spent });
  }
  return nearly;
}

function* addSpent(tx: Transaction, budgetSeq: number, startsAt: number, amount: number) {
  const found = yield* tx.get<{ spent: number; warned: number }>(
    `UPDATE budget_periods SET spent = spent + ? WHERE budget_seq = ? AND starts_at = ? RETURNING spent, warned`,
    amount,
    budgetSeq,
    startsAt,
  );
  if (found !== undefined) return found;
  yield* beginPeriod(tx, { budgetSeq, startsAt, spent: amount });
  return { spent: amount, warned: 0 };
}

/** The first row of a period. */
export function* beginPeriod(
  tx: Transaction,
  { budgetSeq, startsAt, spent }: { readonly budgetSeq: number; readonly startsAt: number; readonly spent: number },
): Step<void> {
  yield* tx.run(
    'INSERT INTO budget_periods (budget_seq, starts_at, spent) VALUES (?, ?, ?)',
    budgetSeq,
    startsAt,
    spent,
  );
  yield* tx.run(
    `DELETE FROM budget_periods WHERE budget_seq = ? AND starts_at <= (SELECT starts_at FROM budget_periods
       WHERE budget_seq = ? ORDER BY starts_at DESC LIMIT 1 OFFSET ${KEPT_PERIODS})`,
    budgetSeq,
    budgetSeq,
  );
}

/** A limit that was raised warns again, when its share is reached anew. */
export function* warnAgainIn(
  tx: Transaction,
  { budgetSeq, startsAt, limit }: { readonly budgetSeq: number; readonly startsAt: number; readonly limit: number },
): Step<void> {
  const sql = 'UPDATE budget_periods SET warned = 0 WHERE budget_seq = ? AND starts_at = ? AND spent < ?';
  yield* tx.run(sql, budgetSeq, startsAt, limit * WARNING_SHARE);
}
