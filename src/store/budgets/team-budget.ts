// The budget that a team is created with, or given when it is changed: in US dollars, by day.
import { DEFAULT_TIME_ZONE } from '../../domain/budgets/budget.ts';
import { QUARTER_MS } from '../../domain/time-zone.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { insertIn } from './budgets.ts';
import { type BudgetRow, termsOf } from './budget-rows.ts';
import type { BudgetKit } from './budget-kit.ts';
import { beginPeriod, warnAgainIn } from './settle.ts';

const OF_TEAM = "SELECT * FROM budgets WHERE team_id = ? AND unit = 'usd' AND period = 'day'";

/** Null removes it. One that exists keeps its time zone, and what was counted. */
export function* setTeamBudgetIn(
  tx: Transaction,
  { inForce, periodOf }: BudgetKit,
  teamId: string,
  limit: number | null,
): Step<void> {
  const found = yield* tx.get<BudgetRow>(OF_TEAM, teamId);
  if (limit === null) {
    if (found !== undefined) yield* tx.run('DELETE FROM budgets WHERE seq = ?', found.seq);
    return;
  }
  inForce.begun();
  if (found !== undefined) {
    yield* tx.run('UPDATE budgets SET amount = ?, updated_at = ? WHERE seq = ?', limit, tx.now, found.seq);
    const { startsAt } = periodOf(termsOf(found), tx.now);
    yield* warnAgainIn(tx, { budgetSeq: found.seq, startsAt, limit });
    return;
  }
  const terms = { subject: 'team', unit: 'usd', period: 'day', timeZone: DEFAULT_TIME_ZONE, limit } as const;
  const payer = { keySeq: null, userSeq: null, teamId };
  const budgetSeq = yield* insertIn(tx, { ...terms, payer });
  const { startsAt } = periodOf(terms, tx.now);
  // A day has at most a hundred quarters of an hour.
  const { spent } = (yield* tx.get<{ spent: number }>(
    'SELECT coalesce(sum(cost_usd), 0) AS spent FROM usage_quarters WHERE quarter >= ? AND team_id = ?',
    startsAt / QUARTER_MS,
    teamId,
  ))!;
  yield* beginPeriod(tx, { budgetSeq, startsAt, spent });
}
