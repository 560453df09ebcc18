// Limits how much memory all replies take together, from the rows that they are made of to the bytes that a client has yet to take.
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';

/** Who may hold which part of the budget: each name counts what is held under it. The first one is the owner. */
export type Quotas = readonly [Quota, ...Quota[]];
type Quota = readonly [name: string, part: number];

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

/** A small part that nobody can use up: who holds nothing else has so much of it at most. */
const RESERVED_PART = 0.125;
const FIRST_PART = RESERVED_PART / 8;

export const quotasOfUser = (owner: string): Quotas => [[owner, PART_OF_USER]];
export const quotasOfAddress = (address: string): Quotas => [
  ['anyone', PART_OF_ANYONE],
  [`anyone at ${address}`, PART_OF_ADDRESS],
];

interface Waiter {
  readonly quotas: Quotas;
  readonly bytes: number;
  /** `names`: what counts the bytes until they are given back. */
  admit(names: readonly string[]): void;
}

/** Makes the budget. What is larger than a quota has it alone. */
export function makeReplyBudget(limitBytes: () => number, clock: Pick<Clock, 'after'>): ReplyBudget {
  const room = makeRoom(limitBytes);
  return (quotas, hasBegun) => {
    let own: { readonly names: readonly string[]; readonly bytes: number } | undefined;
    let giveUp: ((error: ErrandError) => void) | undefined;

    function letGo(): void {
      const held = own;
      own = undefined;
      if (held !== undefined) room.giveBack(held.names, held.bytes);
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
        const admit = (names: readonly string[]) => {
          own = { names, bytes };
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
  // By owner, the first of the quotas.
  const waiting = new Map<string, Set<Waiter>>();

  function hasRoom(name: string, part: number, bytes: number): boolean {
    const sum = held.get(name);
    return sum === undefined || sum + bytes <= limitBytes() * part;
  }

  /** Where there is room in all: for a little of an owner who holds nothing, also in what is reserved. */
  function placeOf({ quotas, bytes }: Waiter, isOver: boolean): string | undefined {
    const isFirst = !held.has(ownerOf(quotas)) && bytes <= limitBytes() * FIRST_PART;
    if (isFirst && hasRoom(RESERVED, RESERVED_PART, bytes)) return RESERVED;
    return !isOver && hasRoom(ALL, 1 - RESERVED_PART, bytes) ? ALL : undefined;
  }

  const isWithinQuotas = ({ quotas, bytes }: Waiter) => quotas.every(([name, part]) => hasRoom(name, part, bytes));
  const heldBy = (name: string) => held.get(name) ?? 0;

  /**
   * Whoever holds least comes first, and nobody passes him, but for those with a place in what is reserved; of one owner, who has
   * waited longest, but for those whose own quota is used up.
   */
  function findNext(): { readonly waiter: Waiter; readonly place: string } | undefined {
    let isOver = false;
    for (const owner of [...waiting.keys()].sort((a, b) => heldBy(a) - heldBy(b))) {
      const waiter = [...waiting.get(owner)!].find(isWithinQuotas);
      if (waiter === undefined) continue;
      const place = placeOf(waiter, isOver);
      if (place !== undefined) return { waiter, place };
      isOver = true;
    }
    return undefined;
  }

  function admitWaiting(): void {
    for (let next = findNext(); next !== undefined; next = findNext()) {
      const { waiter, place } = next;
      leave(waiter);
      const names = [place, ...waiter.quotas.map(([name]) => name)];
      for (const name of names) held.set(name, heldBy(name) + waiter.bytes);
      waiter.admit(names);
    }
  }

  function leave(waiter: Waiter): void {
    const owner = ownerOf(waiter.quotas);
    const own = waiting.get(owner);
    own?.delete(waiter);
    if (own?.size === 0) waiting.delete(owner);
  }

  return {
    giveBack: (names: readonly string[], bytes: number) => {
      for (const name of names) {
        const left = heldBy(name) - bytes;
        if (left === 0) held.delete(name);
        else held.set(name, left);
      }
      admitWaiting();
    },
    /** Whether there was room at once; otherwise it waits. */
    enter: (waiter: Waiter): boolean => {
      const owner = ownerOf(waiter.quotas);
      const own = waiting.get(owner) ?? new Set();
      waiting.set(owner, own.add(waiter));
      admitWaiting();
      return !own.has(waiter);
    },
    leave,
  };
}

const ownerOf = ([[owner]]: Quotas) => owner;

/** What all replies hold, apart from what is reserved. */
const ALL = 'all';
const RESERVED = 'reserved';

const busy = () => new ErrandError('unavailable', 'Too many large replies are being sent. Try again in a moment.');
