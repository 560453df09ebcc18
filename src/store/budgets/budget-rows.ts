// Rows of budgets: those that apply to a run, and what was used of them.
import type { BudgetPeriod, BudgetSubject, BudgetUnit, UsedUp } from '../../domain/budgets/budget.ts';
import type { PeriodOf } from '../../domain/budgets/period.ts';
import type { Reader, Step } from '../engine/statement.ts';

export interface BudgetRow {
  seq: number;
  id: string;
  subject: BudgetSubject;
  keySeq: number | null;
  userSeq: number | null;
  teamId: string | null;
  unit: BudgetUnit;
  period: BudgetPeriod;
  timezone: string;
  amount: number;
  createdAt: number;
  updatedAt: number;
}

/** Budgets with the key, user or team that they name. */
export const NAMED_BUDGETS = `budgets b LEFT JOIN api_keys k ON k.seq = b.key_seq LEFT JOIN users u ON u.seq = b.user_seq
  LEFT JOIN teams t ON t.id = b.team_id`;
export const NAME_OF_SUBJECT = "coalesce(nullif(k.name, ''), k.id, u.username, t.name)";

/** Whose budgets a call uses; its run's own is apart. */
export interface Payer {
  readonly keySeq: number | null;
  readonly userSeq: number;
  readonly teamId: string | null;
}

const OF_RUNS = "SELECT * FROM budgets WHERE subject = 'run'";
const OF_PAYER = `SELECT * FROM budgets WHERE key_seq = ? UNION ALL SELECT * FROM budgets WHERE user_seq = ?
  UNION ALL SELECT * FROM budgets WHERE team_id = ?`;
const APPLYING = `${OF_RUNS} UNION ALL ${OF_PAYER}`;

/** The budgets of a key, a user and a team. */
export function* listOfPayer(tx: Reader, { keySeq, userSeq, teamId }: Payer): Step<BudgetRow[]> {
  return yield* tx.all<BudgetRow>(OF_PAYER, keySeq, userSeq, teamId);
}

/** Those, and the ones that limit each run for itself. */
export function* listApplying(tx: Reader, { keySeq, userSeq, teamId }: Payer): Step<BudgetRow[]> {
  return yield* tx.all<BudgetRow>(APPLYING, keySeq, userSeq, teamId);
}

/** What was used of a budget in the period that begins then. */
export function* readSpent(tx: Reader, budgetSeq: number, startsAt: number): Step<number> {
  const sql = 'SELECT spent FROM budget_periods WHERE budget_seq = ? AND starts_at = ?';
  return (yield* tx.get<{ spent: number }>(sql, budgetSeq, startsAt))?.spent ?? 0;
}

/** The terms of a row as the rules name them. */
export const termsOf = ({ period, timezone }: Pick<BudgetRow, 'period' | 'timezone'>) => ({
  period,
  timeZone: timezone,
});

/** The first of a payer's budgets of which nothing is left, or undefined. */
export function* findUsedUp(tx: Reader, payer: Payer, now: number, periodOf: PeriodOf): Step<UsedUp | undefined> {
  for (const row of yield* listOfPayer(tx, payer)) {
    const { startsAt, endsAt } = periodOf(termsOf(row), now);
    const spent = yield* readSpent(tx, row.seq, startsAt);
    if (spent >= row.amount) return { subject: row.subject, period: row.period, renewsAt: endsAt };
  }
  return undefined;
}
