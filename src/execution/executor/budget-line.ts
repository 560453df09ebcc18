// Calls that ask their budgets to be let in: first come, first served among those who wait for the same one.
import type { Services } from '../../agent/port/services.ts';
import { budgetErrorOf } from '../../domain/budgets/decide.ts';
import { type Clock, pause, type Timer } from '../../domain/clock.ts';
import type { CallToHold, HeldCall } from '../../store/budgets/held-calls.ts';
import type { Store } from '../../store/open-store.ts';

type Answer = Services['hold_budget']['output'];

export interface BudgetLine {
  /** Resolves when the call is let in, or with the budget that is used up. */
  letIn(call: CallToHold): Promise<Answer>;
  /** Lets the calls of an attempt leave, which has ended. */
  leave(attempt: Pick<CallToHold, 'runSeq' | 'attempt'>): void;
  /** There may be room. */
  ring(): void;
}

export interface BudgetLineParts {
  readonly budgets: Pick<Store['budgets'], 'reserve'>;
  readonly clock: Clock;
  /** Called with each call that is let in and held. */
  begin(call: HeldCall): void;
}

/** A call that asks. `awaited`: the budgets that it waits for. */
interface Ticket {
  readonly call: CallToHold;
  awaited: readonly number[];
  answer(output: Answer): void;
  fail(error: unknown): void;
}

export function makeBudgetLine({ budgets, clock, begin }: BudgetLineParts): BudgetLine {
  /** In the order of their coming. */
  const waiting = new Set<Ticket>();
  /** One look ends before the next begins: only then is it known what those before a ticket wait for. */
  let looks = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => (looks = looks.then(work));
  const bell = makeBell(
    clock,
    () => waiting.size > 0,
    () => inTurn(lookAll),
  );

  /** Tries to let a call in. `awaited`: what those before it wait for, to which it adds its own. */
  async function look(ticket: Ticket, awaited: Set<number>): Promise<void> {
    try {
      const reservation = await budgets.reserve(ticket.call, { now: clock.now(), awaited });
      if (reservation.kind === 'wait') {
        ticket.awaited = reservation.budgets;
        for (const budget of reservation.budgets) awaited.add(budget);
        return;
      }
      if (reservation.kind === 'granted' && reservation.held !== null) begin(reservation.held);
      waiting.delete(ticket);
      ticket.answer({ refusal: reservation.kind === 'used up' ? budgetErrorOf(reservation.budget) : null });
    } catch (error) {
      waiting.delete(ticket);
      ticket.fail(error);
    }
  }

  async function lookFirst(ticket: Ticket): Promise<void> {
    // Those that came after it have not looked yet.
    const awaited = new Set([...waiting].flatMap((earlier) => earlier.awaited));
    if (waiting.has(ticket)) await look(ticket, awaited);
  }

  async function lookAll(): Promise<void> {
    const awaited = new Set<number>();
    for (const ticket of waiting) await look(ticket, awaited);
  }

  return {
    letIn: (call) =>
      new Promise((answer, fail) => {
        const ticket: Ticket = { call, awaited: [], answer, fail };
        waiting.add(ticket);
        void inTurn(() => lookFirst(ticket)).then(bell.keepTime);
      }),
    leave: ({ runSeq, attempt }) => {
      for (const ticket of waiting) {
        if (ticket.call.runSeq !== runSeq || ticket.call.attempt !== attempt) continue;
        waiting.delete(ticket);
        ticket.answer({ refusal: null });
      }
    },
    ring: bell.ring,
  };
}

/** Budgets that are raised, and periods that begin, are noticed within this time. */
const LOOK_MS = 1_000;
/** All who wait look again at most this often: the calls of others end all the time. */
const REST_MS = 50;

/** Wakes those who wait when it is rung, at most once in a while, and from time to time by itself. */
function makeBell(clock: Clock, isWanted: () => boolean, wake: () => Promise<void>) {
  let rest: 'none' | 'resting' | 'rung' = 'none';
  let timer: Timer | undefined;

  function ring(): void {
    if (!isWanted()) return;
    if (rest !== 'none') {
      rest = 'rung';
      return;
    }
    rest = 'resting';
    void Promise.all([wake(), pause(clock, REST_MS)]).then(() => {
      const wasRung = rest === 'rung';
      rest = 'none';
      keepTime();
      if (wasRung) ring();
    });
  }

  function keepTime(): void {
    if (timer !== undefined || !isWanted()) return;
    timer = clock.after(LOOK_MS, () => {
      timer = undefined;
      ring();
      keepTime();
    });
  }

  return { ring, keepTime };
}
