// Limits how much memory all replies take together, from the rows that they are made of to the bytes that a client has yet to take.
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';

/** Who may hold which part of the budget: each name counts what is held under it. */
export type Quotas = readonly (readonly [name: string, part: number])[];

/** What one reply holds. */
export interface ReplyShare {
  /**
   * Holds so many bytes in place of what it held, once there is room for them. Before the reply has begun, it throws
   * `unavailable` when that takes too long.
   */
  hold(bytes: number): Promise<void>;
  /** Holds nothing more. Whoever waits is refused. */
  release(): void;
}

/** Opens the share of one reply. */
export type ReplyBudget = (quotas: Quotas, hasBegun: () => boolean) => ReplyShare;

/** How long a reply that has not begun waits for room. */
const WAIT_MS = 10_000;
/** Of one user; the rest is for others. */
const PART_OF_USER = 0.75;
/** Of everybody without a credential together, and of one address. */
const PART_OF_ANYONE = 0.5;
const PART_OF_ADDRESS = 0.125;

export const quotasOfUser = (owner: string): Quotas => [[owner, PART_OF_USER]];
export const quotasOfAddress = (address: string): Quotas => [
  ['anyone', PART_OF_ANYONE],
  [`anyone at ${address}`, PART_OF_ADDRESS],
];

interface Waiter {
  readonly quotas: Quotas;
  readonly bytes: number;
  admit(): void;
}

/** Makes the budget. What is larger than a quota has it alone. */
export function makeReplyBudget(limitBytes: () => number, clock: Pick<Clock, 'after'>): ReplyBudget {
  const room = makeRoom(limitBytes);
  return (quotas, hasBegun) => {
    let own = 0;
    let giveUp: ((error: ErrandError) => void) | undefined;

    function letGo(): void {
      if (own > 0) room.add(quotas, -own);
      own = 0;
    }

    /** Waits in the queue until it is admitted. */
    async function wait(waiter: Waiter, admitted: PromiseWithResolvers<void>): Promise<void> {
      giveUp = (error) => {
        room.leave(waiter);
        admitted.reject(error);
      };
      const timer = hasBegun() ? undefined : clock.after(WAIT_MS, () => giveUp?.(busy()));
      try {
        await admitted.promise;
      } finally {
        timer?.cancel();
        giveUp = undefined;
      }
    }

    return {
      hold: async (bytes) => {
        letGo();
        const admitted = Promise.withResolvers<void>();
        const admit = () => {
          own = bytes;
          admitted.resolve();
        };
        const waiter = { quotas, bytes, admit };
        if (!room.enter(waiter)) await wait(waiter, admitted);
      },
      release: () => {
        letGo();
        giveUp?.(new ErrandError('unavailable', 'The client has disconnected.'));
      },
    };
  };
}

/** What is held, by whom, and who waits for more. */
function makeRoom(limitBytes: () => number) {
  const held = new Map<string, number>();
  const waiting = new Set<Waiter>();

  function hasRoom(name: string, part: number, bytes: number): boolean {
    const sum = held.get(name);
    return sum === undefined || sum + bytes <= limitBytes() * part;
  }

  /** In order, but for those whose own quota is used up: they must not delay others. */
  function admitWaiting(): void {
    for (const waiter of waiting) {
      if (!waiter.quotas.every(([name, part]) => hasRoom(name, part, waiter.bytes))) continue;
      if (!hasRoom(ALL, 1, waiter.bytes)) return;
      waiting.delete(waiter);
      add(waiter.quotas, waiter.bytes);
      waiter.admit();
    }
  }

  function add(quotas: Quotas, bytes: number): void {
    for (const name of [ALL, ...quotas.map(([own]) => own)]) {
      const sum = (held.get(name) ?? 0) + bytes;
      if (sum === 0) held.delete(name);
      else held.set(name, sum);
    }
    if (bytes < 0) admitWaiting();
  }

  return {
    add,
    /** Whether there was room at once; otherwise it waits. */
    enter: (waiter: Waiter): boolean => {
      waiting.add(waiter);
      admitWaiting();
      return !waiting.has(waiter);
    },
    leave: (waiter: Waiter): void => void waiting.delete(waiter),
  };
}

/** What all replies hold. */
const ALL = '';

const busy = () => new ErrandError('unavailable', 'Too many large replies are being sent. Try again in a moment.');
