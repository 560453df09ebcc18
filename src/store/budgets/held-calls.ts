// All calls in progress, and what they hold back: in the memory of a process that is alone, and what each process has of its own.
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { BudgetRow } from './budget-rows.ts';
import { forgetIn } from './call-rows.ts';
import { type CallOfAttempt, type HeldCall, reservedBy } from './held-call.ts';

/** Reads what calls hold back of a budget, without those of a run. */
export type ReadReserved = (tx: Reader, row: BudgetRow, exceptRunSeq?: number) => Step<number>;

/** Calls in progress. They are known to this process, or to all that share the database. */
export interface HeldCalls {
  /** Ask for it before any row is read: a call that is released meanwhile may be missing from what is spent then, and must count as held. */
  look(): ReadReserved;
  /** A call was granted. */
  hold(call: HeldCall): void;
  /** Call it after the commit that settled the call, so that it is never missing from what is held and spent. */
  release(call: HeldCall): void;
  /** Those of an attempt that this process holds. */
  ofAttempt(attempt: CallOfAttempt): HeldCall[];
  /** Whether the call has a row, or will have one before anything that is asked of the store from now on. */
  isWritten(call: HeldCall): boolean;
  /** The rows of these are being written. */
  written(calls: readonly HeldCall[]): void;
  /** Removes the row of an attempt's call, which is recorded. `hasBudgets`: whether there is any budget. */
  recordedIn(tx: Transaction, attempt: CallOfAttempt, hasBudgets: boolean): Step<void>;
  /** The same of a call of which nothing was heard. Returns false when another process has recorded it. */
  lostIn(tx: Transaction, attempt: CallOfAttempt): Step<boolean>;
}

/** The calls of this process, by run. There are never more than runs that execute. */
export function makeOwnCalls() {
  const runs = new Map<number, Set<HeldCall>>();
  const ofRun = (runSeq: number): ReadonlySet<HeldCall> => runs.get(runSeq) ?? new Set();
  return {
    hold: (call: HeldCall): void => {
      const calls = runs.get(call.runSeq);
      if (calls === undefined) runs.set(call.runSeq, new Set([call]));
      else calls.add(call);
    },
    /** Returns whether it was the last one of its run. */
    release: (call: HeldCall): boolean => {
      const calls = runs.get(call.runSeq);
      calls?.delete(call);
      return calls?.size === 0 && runs.delete(call.runSeq);
    },
    ofAttempt: ({ runSeq, attempt }: CallOfAttempt) => [...ofRun(runSeq)].filter((call) => call.attempt === attempt),
    list: (): readonly HeldCall[] => [...runs.values()].flatMap((calls) => [...calls]),
  };
}

/** Makes them for a process that is alone: in its memory, where they cost no statement. Those that last are written down. */
export function makeHeldCalls(): HeldCalls {
  const calls = makeOwnCalls();
  /** Runs with a call that is written down. They leave it with their last call: an earlier one may have left its row. */
  const saved = new Set<number>();
  const written = new WeakSet<HeldCall>();

  function* forgetSaved(tx: Transaction, attempt: CallOfAttempt): Step<true> {
    if (saved.has(attempt.runSeq)) yield* forgetIn(tx, attempt);
    return true;
  }

  return {
    look: () => {
      const now = calls.list();
      // oxlint-disable-next-line require-yield
      return function* readReserved(_, row, exceptRunSeq) {
        return reservedBy(now, row, exceptRunSeq);
      };
    },
    hold: calls.hold,
    release: (call) => {
      if (calls.release(call)) saved.delete(call.runSeq);
    },
    ofAttempt: calls.ofAttempt,
    isWritten: (call) => written.has(call),
    written: (those) => {
      for (const call of those) {
        written.add(call);
        saved.add(call.runSeq);
      }
    },
    *recordedIn(tx, attempt) {
      yield* forgetSaved(tx, attempt);
    },
    lostIn: forgetSaved,
  };
}
