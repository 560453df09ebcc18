// Calls that ask their budgets to be let in: first come, first served among those who wait for the same one.
import type { Services } from '../../agent/port/services.ts';
import { budgetErrorOf } from '../../domain/budgets/decide.ts';
import { type Clock, pause, type Timer } from '../../domain/clock.ts';
import type { Reservation } from '../../store/budgets/decide-calls.ts';
import type { CallToHold, HeldCall } from '../../store/budgets/held-call.ts';
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
  readonly budgets: Pick<Store['budgets'], 'reserve'>;
  readonly clock: Clock;
  /** Called with each call that is let in and held. */
  begin(call: HeldCall): void;
  /** Called with each that is held although its attempt has ended. */
  letGo(call: HeldCall): void;
}

/** A call that asks. `awaited`: the budgets that it waits for; null while it hasn't looked. */
interface WaitingCall {
  readonly call: CallToHold;
  awaited: readonly number[] | null;
  answer(output: Answer): void;
  fail(error: unknown): void;
}

/** Calls that look at once: they share a commit. */
const LOOK_TOGETHER = 64;

export function makeBudgetQueue({ budgets, clock, begin, letGo }: BudgetQueueParts): BudgetQueue {
  /** In the order of their coming. */
  const waiting = new Set<WaitingCall>();
  /** One look ends before the next begins: only then is it known what those before one wait for. */
  let looks = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => (looks = looks.then(work));
  const wakeUps = makeWakeUps(
    clock,
    () => waiting.size > 0,
    () => inTurn(() => look([...waiting])),
  );

  /** Tries to let calls in, which are in order. */
  async function look(callers: readonly WaitingCall[]): Promise<void> {
    for (let at = 0; at < callers.length; at += LOOK_TOGETHER) {
      const some = callers.slice(at, at + LOOK_TOGETHER).filter((caller) => waiting.has(caller));
      if (some.length > 0) await lookTogether(some, awaitedBefore(some[0]!, waiting));
    }
  }

  async function lookTogether(callers: readonly WaitingCall[], awaited: ReadonlySet<number>): Promise<void> {
    const calls = callers.map(({ call }) => call);
    try {
      const reservations = await budgets.reserve(calls, { now: clock.now(), awaited });
      for (const [at, caller] of callers.entries()) take(caller, reservations[at]!);
    } catch (error) {
      for (const caller of callers) if (waiting.delete(caller)) caller.fail(error);
    }
  }

  function take(caller: WaitingCall, reservation: Reservation): void {
    const held = reservation.kind === 'granted' ? reservation.held : null;
    // Its attempt may have ended meanwhile.
    if (!waiting.has(caller)) {
      if (held !== null) letGo(held);
      return;
    }
    if (reservation.kind === 'wait') {
      caller.awaited = reservation.budgets;
      return;
    }
    if (held !== null) begin(held);
    waiting.delete(caller);
    caller.answer({ refusal: reservation.kind === 'used up' ? budgetErrorOf(reservation.budget) : null });
  }

  /** Those that have come meanwhile look together. */
  const lookFirst = () => look([...waiting].filter(({ awaited }) => awaited === null));

  return {
    admit: (call) =>
      new Promise((answer, fail) => {
        waiting.add({ call, awaited: null, answer, fail });
        void inTurn(lookFirst).then(wakeUps.watch);
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

/** What those wait for that came before a call. */
function awaitedBefore(first: WaitingCall, waiting: Iterable<WaitingCall>): ReadonlySet<number> {
  const awaited = new Set<number>();
  for (const caller of waiting) {
    if (caller === first) break;
    for (const budget of caller.awaited ?? []) awaited.add(budget);
  }
  return awaited;
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
