// Reservations: what a model call may use at most is held back before it begins, until its usage is recorded.
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { BudgetKit } from './budget-kit.ts';
import { insertCall } from './call-rows.ts';
import { type Asking, decideAll, type Reservation } from './decide-calls.ts';
import type { CallToHold, HeldCall } from './held-call.ts';

type Reserve = (calls: readonly CallToHold[], asking: Asking) => Promise<readonly Reservation[]>;

/** The verbs on reservations. */
export function makeReservations(database: Database, kit: BudgetKit) {
  const reserve = database.peers === null ? makeReserve(database, kit) : makeSharedReserve(database, kit);
  return {
    /** Holds back what each call may use at most, in every budget that applies to its run; or in none. The first come first. */
    reserve,
    /** Learns whether others have set the first budget, or removed the last. */
    lookForBudgets: database.read(kit.inForce.look),
  };
}

const heldIn = (reservations: readonly Reservation[]): HeldCall[] =>
  reservations.flatMap((one) => (one.kind === 'granted' && one.held !== null ? [one.held] : []));

/** For a process that is alone: one after another, so that no other call is held meanwhile. It writes nothing. */
function makeReserve({ read }: Database, kit: BudgetKit): Reserve {
  const reserve = read(function* (tx: Reader, calls: readonly CallToHold[], asking: Asking): Step<Reservation[]> {
    const reservations = yield* decideAll(tx, kit, calls, asking);
    heldIn(reservations).forEach(kit.held.hold);
    return reservations;
  });
  let last: Promise<unknown> = Promise.resolve();
  return (...asked) => {
    const next = last.then(() => reserve(...asked));
    last = next.catch(() => undefined);
    return next;
  };
}

/** Where others write as well, the transaction that grants a call writes its row, which they find in theirs. */
function makeSharedReserve({ read, write }: Database, kit: BudgetKit): Reserve {
  const look = read((tx: Reader, calls: readonly CallToHold[], asking: Asking) => decideAll(tx, kit, calls, asking));
  const grant = write(function* (
    tx: Transaction,
    calls: readonly CallToHold[],
    asking: Asking,
  ): Step<readonly Reservation[]> {
    const reservations = yield* decideAll(tx, kit, calls, asking);
    for (const call of heldIn(reservations)) yield* insertCall(tx, call);
    return reservations;
  });
  return async (calls, asking) => {
    // Those that wait look again and again, and most have no budget: neither costs a commit.
    const seen = await look(calls, asking);
    const isWanted = seen.map((one) => one.kind === 'granted' && one.held !== null);
    const wanted = calls.filter((_, at) => isWanted[at]);
    if (wanted.length === 0) return seen;
    const granted = await grant(wanted, asking);
    heldIn(granted).forEach(kit.held.hold);
    let at = 0;
    return seen.map((one, place) => (isWanted[place] ? granted[at++]! : one));
  };
}
