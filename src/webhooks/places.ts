// Places of attempts in flight: how many there are, and for whom.
import type { Lane } from '../store/webhooks/deliveries.ts';

/** How many attempts may be in flight. */
export const LIMITS = {
  all: 64,
  /** Of webhooks that are not proven: the other places are for those whose receivers answer. */
  unproven: 32,
  /** Of proven webhooks at one host and port, which may die for all of them at once. */
  perHost: 16,
  perWebhook: 4,
  perUnprovenWebhook: 1,
} as const;

/** Who takes a place. */
type Taker = Pick<Lane, 'standing' | 'host'>;

export interface Places {
  /** How many more a webhook may take, as for its standing and its host. */
  left(taker: Taker): number;
  /** Places that nobody has. */
  free(): number;
  occupy(deliveryId: number, taker: Taker): void;
  leave(deliveryId: number): void;
}

/** Makes the places, all of them free. */
export function makePlaces(): Places {
  const taken = new Map<number, { readonly host: string; readonly isProven: boolean }>();
  /** Of proven webhooks. */
  const perHost = new Map<string, number>();
  let unproven = 0;

  function count(deliveryId: number, by: 1 | -1): void {
    const { host, isProven } = taken.get(deliveryId)!;
    if (!isProven) {
      unproven += by;
      return;
    }
    const atHost = (perHost.get(host) ?? 0) + by;
    if (atHost === 0) perHost.delete(host);
    else perHost.set(host, atHost);
  }

  return {
    left: ({ standing, host }) => {
      const own = standing === 'proven' ? LIMITS.perHost - (perHost.get(host) ?? 0) : LIMITS.unproven - unproven;
      return Math.min(own, LIMITS.all - taken.size);
    },
    free: () => LIMITS.all - taken.size,
    occupy: (deliveryId, { host, standing }) => {
      taken.set(deliveryId, { host, isProven: standing === 'proven' });
      count(deliveryId, 1);
    },
    leave: (deliveryId) => {
      count(deliveryId, -1);
      taken.delete(deliveryId);
    },
  };
}
