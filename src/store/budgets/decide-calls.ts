// Decides which model calls may begin, by the budgets that apply to their runs: those that have come first go first.
import type { UsedUp } from '../../domain/budgets/budget.ts';
import { decide } from '../../domain/budgets/decide.ts';
import { type Reader, type Step, together } from '../engine/statement.ts';
import { type BudgetRow, listApplying, type Payer, readSpent, termsOf } from './budget-rows.ts';
import type { BudgetKit } from './budget-kit.ts';
import { type CallToHold, type HeldCall, reservedBy } from './held-call.ts';
import type { ReadReserved } from './held-calls.ts';

/**
 * `granted`: without a `held` where no budget applies. `gone`: the attempt no longer holds its run. `wait`: calls in progress
 * hold back what is left of these budgets, or others wait for them already.
 */
export type Reservation =
  | { readonly kind: 'granted'; readonly held: HeldCall | null }
  | { readonly kind: 'gone' }
  | { readonly kind: 'wait'; readonly budgets: readonly number[] }
  | { readonly kind: 'used up'; readonly budget: UsedUp };

export interface Asking {
  readonly now: number;
  /** Budgets that calls which came earlier wait for. */
  readonly awaited: ReadonlySet<number>;
}

interface CallingRow extends Payer {
  readonly node: string | null;
  readonly tokens: number;
  readonly usd: number;
}

/** A budget that applies to a call. */
interface Balance {
  readonly row: BudgetRow;
  readonly renewsAt: number | null;
  readonly spent: number;
  /** For other calls in progress. */
  readonly reserved: number;
}

/** What a call is decided by. */
interface Account {
  readonly run: CallingRow;
  readonly balances: readonly Balance[];
}

/** Decides calls in the order of their coming. Each that is granted counts as held for those behind it. */
export function* decideAll(
  tx: Reader,
  { inForce, held, periodOf }: BudgetKit,
  calls: readonly CallToHold[],
  { now, awaited }: Asking,
): Step<Reservation[]> {
  // Before any row is read.
  const readReserved = held.look();
  if (!(yield* inForce.any(tx))) return calls.map(() => ({ kind: 'granted', held: null }));
  const accounts = yield* together(calls.map((call) => readAccount(tx, call, { now, periodOf, readReserved })));
  const granted: HeldCall[] = [];
  const waitedFor = new Set(awaited);
  return calls.map((call, at) => {
    const reservation = decideOne(call, accounts[at], granted, waitedFor);
    if (reservation.kind === 'granted' && reservation.held !== null) granted.push(reservation.held);
    if (reservation.kind === 'wait') for (const budget of reservation.budgets) waitedFor.add(budget);
    return reservation;
  });
}

function decideOne(
  call: CallToHold,
  account: Account | undefined,
  granted: readonly HeldCall[],
  awaited: ReadonlySet<number>,
): Reservation {
  if (account === undefined) return { kind: 'gone' };
  const { run, balances } = account;
  if (balances.length === 0) return { kind: 'granted', held: null };
  const budgets: number[] = [];
  for (const { row, renewsAt, spent, ...others } of balances) {
    const reserved = others.reserved + reservedBy(granted, row, call.runSeq);
    const verdict = decide({ limit: row.amount, spent, reserved, need: call.most[row.unit] });
    if (verdict === 'used up') return { kind: 'used up', budget: usedUp(row, renewsAt) };
    if (verdict === 'wait' || awaited.has(row.seq)) budgets.push(row.seq);
  }
  if (budgets.length > 0) return { kind: 'wait', budgets };
  const { node, keySeq, userSeq, teamId } = run;
  return { kind: 'granted', held: { ...call, node, payer: { keySeq, userSeq, teamId } } };
}

const usedUp = ({ subject, period }: BudgetRow, renewsAt: number | null): UsedUp => ({ subject, period, renewsAt });

interface Reading extends Pick<BudgetKit, 'periodOf'> {
  readonly now: number;
  readonly readReserved: ReadReserved;
}

/** Returns undefined when the attempt no longer holds its run. */
function* readAccount(tx: Reader, call: CallToHold, reading: Reading): Step<Account | undefined> {
  const run = yield* readCalling(tx, call);
  if (run === undefined) return undefined;
  const rows = yield* listApplying(tx, run);
  return { run, balances: yield* together(rows.map((row) => readBalance(tx, row, { ...reading, run, call }))) };
}

function* readBalance(
  tx: Reader,
  row: BudgetRow,
  { now, periodOf, readReserved, run, call }: Reading & { readonly run: CallingRow; readonly call: CallToHold },
): Step<Balance> {
  const { startsAt, endsAt: renewsAt } = periodOf(termsOf(row), now);
  if (row.subject === 'run') return { row, renewsAt, spent: run[row.unit], reserved: 0 };
  const [spent, reserved] = yield* together([readSpent(tx, row.seq, startsAt), readReserved(tx, row, call.runSeq)]);
  return { row, renewsAt, spent: spent!, reserved: reserved! };
}

/** The run of an attempt that holds it. Its team is the one that the ledger charges. */
function* readCalling(tx: Reader, { runSeq, attempt }: CallToHold): Step<CallingRow | undefined> {
  return yield* tx.get<CallingRow>(
    `SELECT r.node_id AS node, r.key_seq, r.user_seq, coalesce(u.team_id, r.team_id) AS "teamId",
       r.input_tokens + r.output_tokens AS tokens, r.cost_usd AS usd
     FROM runs r JOIN users u ON u.seq = r.user_seq WHERE r.seq = ? AND r.attempt = ? AND r.status = 'running'`,
    runSeq,
    attempt,
  );
}
