// Calls that ask their budgets to be let in: first come, first served among those who wait for the same one.
import type { Services } from '../../agent/port/services.ts';
import { budgetErrorOf } from '../../domain/budgets/decide.ts';
import { type Clock, pause, type Timer } from '../../domain/clock.ts';
import type { CallToHold, HeldCall } from '../../store/budgets/held-calls.ts';
import type { Store } from '../../store/open-store.ts';

type Answer = Services['hold_budget']['output'];

export interface BudgetQueue {
  /** Resolves when the call is let in, or with the budget that is used up. */
  admit(call: CallToHold): Promise<Answer>;
  /** Lets the calls of an attempt leave, which has ended. */
  leave(attempt: Pick<CallToHold, 'runSeq' | 'attempt'>): void;
  /** There may be room. */
  notify(): void;
}

export interface BudgetQueueParts {
  readonly budgets: Pick<Store['budgets'], 'reserve' | 'release'>;
  readonly clock: Clock;
  /** Called with each call that is let in and held. */
  begin(call: HeldCall): void;
}

/** A call that asks. `awaited`: the budgets that it waits for. */
interface WaitingCall {
  readonly call: CallToHold;
  awaited: readonly number[];
  answer(output: Answer): void;
  fail(error: unknown): void;
}

export function makeBudgetQueue({ budgets, clock, begin }: BudgetQueueParts): BudgetQueue {
  /** In the order of their coming. */
  const waiting = new Set<WaitingCall>();
  /** One look ends before the next begins: only then is it known what those before one wait for. */
  let looks = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => (looks = looks.then(work));
  const wakeUps = makeWakeUps(
    clock,
    () => waiting.size > 0,
    () => inTurn(lookAll),
  );

  /** Tries to let a call in. `awaited`: what those before it wait for, to which it adds its own. */
  async function look(caller: WaitingCall, awaited: Set<number>): Promise<void> {
    try {
      const reservation = await budgets.reserve(caller.call, { now: clock.now(), awaited });
      // Its attempt may have ended meanwhile: nobody would let the call go.
      if (!waiting.has(caller)) return letGo(reservation);
      if (reservation.kind === 'wait') {
        caller.awaited = reservation.budgets;
        for (const budget of reservation.budgets) awaited.add(budget);
        return;
      }
      if (reservation.kind === 'granted' && reservation.held !== null) begin(reservation.held);
      waiting.delete(caller);
      caller.answer({ refusal: reservation.kind === 'used up' ? budgetErrorOf(reservation.budget) : null });
    } catch (error) {
      waiting.delete(caller);
      caller.fail(error);
    }
  }

  function letGo(reservation: Awaited<ReturnType<typeof budgets.reserve>>): void {
    if (reservation.kind === 'granted' && reservation.held !== null) budgets.release(reservation.held);
  }

  async function lookFirst(caller: WaitingCall): Promise<void> {
    // Those that came after it have not looked yet.
    const awaited = new Set([...waiting].flatMap((earlier) => earlier.awaited));
    if (waiting.has(caller)) await look(caller, awaited);
  }

  async function lookAll(): Promise<void> {
    const awaited = new Set<number>();
    for (const caller of waiting) await look(caller, awaited);
  }

  return {
    admit: (call) =>
      new Promise((answer, fail) => {
        const caller: WaitingCall = { call, awaited: [], answer, fail };
        waiting.add(caller);
        void inTurn(() => lookFirst(caller)).then(wakeUps.watch);
      }),
    leave: ({ runSeq, attempt }) => {
      for (const caller of waiting) {
        if (caller.call.runSeq !== runSeq || caller.call.attempt !== attempt) continue;
        waiting.delete(caller);
        caller.answer({ refusal: null });
      }
    },
    notify: wakeUps.request,
  };
}

/** Budgets that are raised, and periods that begin, are noticed within this time. */
const LOOK_MS = 1_000;
/** All who wait look again at most this often: the calls of others end all the time. */
const REST_MS = 50;

/** Wakes those who wait when that is requested, at most once in a while, and from time to time by itself. */
function makeWakeUps(clock: Clock, isWanted: () => boolean, wake: () => Promise<void>) {
  let rest: 'none' | 'resting' | 'requested' = 'none';
  let timer: Timer | undefined;

  function request(): void {
    if (!isWanted()) return;
    if (rest !== 'none') {
      rest = 'requested';
      return;
    }
    rest = 'resting';
    void Promise.all([wake(), pause(clock, REST_MS)]).then(() => {
      const wasRequested = rest === 'requested';
      rest = 'none';
      watch();
      if (wasRequested) request();
    });
  }

  function watch(): void {
    if (timer !== undefined || !isWanted()) return;
    timer = clock.after(LOOK_MS, () => {
      timer = undefined;
      request();
      watch();
    });
  }

  return { request, watch };
}
