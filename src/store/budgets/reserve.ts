// Reservations: what a model call may use at most is held back before it begins, until its usage is recorded.
import type { Amounts, UsedUp } from '../../domain/budgets/budget.ts';
import { decide } from '../../domain/budgets/decide.ts';
import type { PeriodOf } from '../../domain/budgets/period.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { type BudgetRow, listOfPayer, listOfRuns, type Payer, readSpent, termsOf } from './budget-rows.ts';
import type { BudgetsInForce } from './in-force.ts';
import type { BudgetWarnings } from './warnings.ts';

/** `gone`: the attempt no longer holds its run. */
export type Reservation =
  | { readonly kind: 'granted' | 'wait' | 'gone' }
  | { readonly kind: 'used up'; readonly budget: UsedUp };

/** A run, and the attempt that calls a model. */
export interface CallingAttempt {
  readonly runSeq: number;
  readonly attempt: number;
}

/** What of the budgets the verbs on rows share. */
export interface BudgetKit {
  readonly inForce: BudgetsInForce;
  readonly periodOf: PeriodOf;
  readonly warnings: BudgetWarnings;
}

interface CallingRow extends Payer {
  readonly tokens: number;
  readonly usd: number;
}

const LIVE = `EXISTS (SELECT 1 FROM runs r WHERE r.seq = budget_reservations.run_seq
  AND r.attempt = budget_reservations.attempt AND r.status = 'running')`;

/** What calls in progress hold back of a budget, without those of attempts that have ended. */
export const RESERVED = `SELECT coalesce(sum(amount), 0) AS reserved FROM budget_reservations
  WHERE budget_seq = ? AND run_seq <> ? AND ${LIVE}`;

/** The verbs on reservations. */
export function makeReservations({ write }: Database, { inForce, periodOf }: BudgetKit) {
  return {
    /** Holds back what a call may use at most, in every budget that applies to its run; or in none. */
    reserve: write(function* (tx: Transaction, attempt: CallingAttempt, most: Amounts): Step<Reservation> {
      if (!(yield* inForce.any(tx))) return { kind: 'granted' };
      const run = yield* readCalling(tx, attempt);
      if (run === undefined) return { kind: 'gone' };
      const rows = yield* listOfPayer(tx, run);
      const verdicts = [
        ...(yield* listOfRuns(tx)).map((row) => judgeRun(row, run, most)),
        ...(yield* judgeAll(tx, rows, { attempt, most, periodOf })),
      ];
      const usedUp = verdicts.find(({ kind }) => kind === 'used up');
      if (usedUp !== undefined) return usedUp;
      if (verdicts.some(({ kind }) => kind === 'wait')) return { kind: 'wait' };
      for (const row of rows) yield* hold(tx, row, attempt, most);
      return { kind: 'granted' };
    }),

    /** Gives back what is held back for a run, whose call has failed. */
    release: write(function* (tx: Transaction, { runSeq, attempt }: CallingAttempt): Step<void> {
      yield* tx.run('DELETE FROM budget_reservations WHERE run_seq = ? AND attempt = ?', runSeq, attempt);
    }),
  };
}

/** The run of an attempt that holds it. Its team is the one that the ledger charges. */
function* readCalling(tx: Transaction, { runSeq, attempt }: CallingAttempt): Step<CallingRow | undefined> {
  return yield* tx.get<CallingRow>(
    `SELECT r.key_seq AS "keySeq", r.user_seq AS "userSeq", coalesce(u.team_id, r.team_id) AS "teamId",
       r.input_tokens + r.output_tokens AS tokens, r.cost_usd AS usd
     FROM runs r JOIN users u ON u.seq = r.user_seq WHERE r.seq = ? AND r.attempt = ? AND r.status = 'running'`,
    runSeq,
    attempt,
  );
}

function judgeRun({ unit, amount }: BudgetRow, run: CallingRow, most: Amounts): Reservation {
  const balance = { limit: amount, spent: run[unit], reserved: 0, need: most[unit] };
  const kind = decide(balance);
  return kind === 'used up' ? { kind, budget: { subject: 'run', period: 'all', renewsAt: null } } : { kind };
}

interface Judging {
  readonly attempt: CallingAttempt;
  readonly most: Amounts;
  readonly periodOf: PeriodOf;
}

function* judgeAll(tx: Transaction, rows: readonly BudgetRow[], { attempt, most, periodOf }: Judging) {
  const verdicts: Reservation[] = [];
  for (const row of rows) {
    const { startsAt, endsAt } = periodOf(termsOf(row), tx.now);
    yield* tx.run(`DELETE FROM budget_reservations WHERE budget_seq = ? AND NOT ${LIVE}`, row.seq);
    const { reserved } = (yield* tx.get<{ reserved: number }>(RESERVED, row.seq, attempt.runSeq))!;
    const spent = yield* readSpent(tx, row.seq, startsAt);
    const kind = decide({ limit: row.amount, spent, reserved, need: most[row.unit] });
    const { subject, period } = row;
    verdicts.push(kind === 'used up' ? { kind, budget: { subject, period, renewsAt: endsAt } } : { kind });
  }
  return verdicts;
}

function* hold(
  tx: Transaction,
  { seq, unit }: BudgetRow,
  { runSeq, attempt }: CallingAttempt,
  most: Amounts,
): Step<void> {
  yield* tx.run(
    `INSERT INTO budget_reservations (budget_seq, run_seq, attempt, amount) VALUES (?, ?, ?, ?)
     ON CONFLICT (budget_seq, run_seq) DO UPDATE SET attempt = excluded.attempt, amount = excluded.amount`,
    seq,
    runSeq,
    attempt,
    most[unit],
  );
}
