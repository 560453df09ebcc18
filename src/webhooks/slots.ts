// Slots of attempts in flight: how many there are, and for whom.
import type { Lane } from '../store/webhooks/deliveries.ts';

/** How many attempts may be in flight. */
export const LIMITS = {
  all: 64,
  /** Of webhooks that are not proven: the other slots are for those whose receivers answer. */
  unproven: 32,
  /** Of one user's webhooks, or of the system-wide ones. */
  perOwner: 24,
  perOwnerUnproven: 8,
  /** Of proven webhooks at one host and port, which may die for all of them at once. Leaves an owner slots for others. */
  perHost: 12,
  perWebhook: 4,
  perUnprovenWebhook: 1,
} as const;

/** Who holds a slot. */
export type SlotHolder = Pick<Lane, 'standing' | 'host' | 'owner'>;

export interface Slots {
  /** How many more a webhook may take, as for its standing, its owner and its host. */
  left(holder: SlotHolder): number;
  /** The same without regard to the host. */
  leftOfOwner(owner: number, standing: Lane['standing']): number;
  /** Slots that nobody has. */
  free(): number;
  occupy(deliveryId: number, holder: SlotHolder): void;
  leave(deliveryId: number): void;
}

/** Makes the slots, all of them free. */
export function makeSlots(): Slots {
  const taken = new Map<number, SlotHolder>();
  const unproven = makeCounts<'all'>();
  const unprovenPerOwner = makeCounts<number>();
  const perOwner = makeCounts<number>();
  /** Of proven webhooks. */
  const perHost = makeCounts<string>();

  function count({ owner, host, standing }: SlotHolder, by: 1 | -1): void {
    perOwner.add(owner, by);
    if (standing === 'proven') return perHost.add(host, by);
    unproven.add('all', by);
    unprovenPerOwner.add(owner, by);
  }

  function leftOfOwner(owner: number, standing: Lane['standing']): number {
    const left = Math.min(LIMITS.all - taken.size, LIMITS.perOwner - perOwner.of(owner));
    if (standing === 'proven') return left;
    return Math.min(left, LIMITS.unproven - unproven.of('all'), LIMITS.perOwnerUnproven - unprovenPerOwner.of(owner));
  }

  return {
    leftOfOwner,
    free: () => LIMITS.all - taken.size,
    left: ({ owner, standing, host }) => {
      const left = leftOfOwner(owner, standing);
      return standing === 'proven' ? Math.min(left, LIMITS.perHost - perHost.of(host)) : left;
    },
    occupy: (deliveryId, { owner, host, standing }) => {
      const holder = { owner, host, standing };
      taken.set(deliveryId, holder);
      count(holder, 1);
    },
    leave: (deliveryId) => {
      count(taken.get(deliveryId)!, -1);
      taken.delete(deliveryId);
    },
  };
}

/** Counts by key; holds none that is 0. */
function makeCounts<Key>() {
  const counts = new Map<Key, number>();
  return {
    of: (key: Key): number => counts.get(key) ?? 0,
    add: (key: Key, by: number): void => {
      const count = (counts.get(key) ?? 0) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
  };
}
