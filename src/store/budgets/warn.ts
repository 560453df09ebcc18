// Warns administrators that most of a budget is used: by an insight of the run that used it, and by the store's listeners.
import { newId } from '../../domain/ids.ts';
import { nearlyWordsOf, type NearlyUsedUp } from '../../domain/budgets/warning.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { reportIn, type ReportingRun } from '../sessions/report-insight.ts';
import { NAME_OF_SUBJECT, NAMED_BUDGETS } from './budget-rows.ts';
import type { BudgetWarnings } from './warnings.ts';
import type { Exceeding } from './settle.ts';

/** Reports it once in each period: the caller has noted that it was. */
export function* warnIn(
  tx: Transaction,
  warnings: BudgetWarnings,
  run: ReportingRun,
  { row, renewsAt, spent }: Exceeding,
): Step<void> {
  const sql = `SELECT ${NAME_OF_SUBJECT} AS name FROM ${NAMED_BUDGETS} WHERE b.seq = ?`;
  const { name } = (yield* tx.get<{ name: string }>(sql, row.seq))!;
  const { id, subject, unit, period, amount } = row;
  const budget: NearlyUsedUp = { id, subject, name, unit, period, limit: amount, spent, renewsAt };
  warnings.note(tx, budget);
  // A call can be recorded after its session was deleted: then the log alone tells of it.
  const isThere = yield* tx.get('SELECT 1 FROM sessions WHERE seq = ? AND deleted_at IS NULL', run.sessionSeq);
  if (isThere === undefined) return;
  const insight = { ...nearlyWordsOf(budget), callId: `budget:${newId(tx.now)}`, priority: 'high' } as const;
  yield* reportIn(tx, run, insight, 'api');
}
