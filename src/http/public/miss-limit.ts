// Limits how often an address may name shares and pages that don't exist, so that nobody finds any by guessing (F8).
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { networkOf } from '../../outbound/address-range.ts';
import type { ClientAddressOf } from '../server/client-address.ts';
import { isFromOperator } from '../server/peers.ts';

/** Runs a look-up of what a code or a key names. Throws `rate_limited` instead of running it. */
export type CountMisses = <T>(req: IncomingMessage, look: () => Promise<T>) => Promise<T>;

const WINDOW_MS = 60_000;
const MAX_MISSES = 60;
/** Of the addresses with a miss in the last minute, the latest are remembered. */
const MAX_ADDRESSES = 10_000;

interface Misses {
  /** Monotonic: of the first. */
  readonly since: number;
  count: number;
}

interface MissLimitParts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly clientAddressOf: ClientAddressOf;
  readonly maxAddresses?: number;
}

/** Makes the limit: 60 misses in a minute, counted from the first of them. */
export function makeMissLimit({ clock, clientAddressOf, maxAddresses = MAX_ADDRESSES }: MissLimitParts): CountMisses {
  /** By when their minute began, the oldest first. */
  const byAddress = new Map<string, Misses>();

  function forgetOld(now: number): void {
    for (const [address, { since }] of byAddress) {
      if (now - since < WINDOW_MS) return;
      byAddress.delete(address);
    }
  }

  function count(address: string): void {
    const known = byAddress.get(address);
    if (known !== undefined) return void (known.count += 1);
    const [oldest] = byAddress.keys();
    if (byAddress.size >= maxAddresses && oldest !== undefined) byAddress.delete(oldest);
    byAddress.set(address, { since: clock.monotonic(), count: 1 });
  }

  return async (req, look) => {
    // The operator may read everything anyway.
    if (isFromOperator(req)) return look();
    const address = networkOf(clientAddressOf(req));
    const now = clock.monotonic();
    forgetOld(now);
    const misses = byAddress.get(address);
    if (misses !== undefined && misses.count >= MAX_MISSES) throw tooMany(misses.since + WINDOW_MS - now);
    try {
      return await look();
    } catch (error) {
      if (isMiss(error)) count(address);
      throw error;
    }
  };
}

/** Who names a share that has ended, or a file that it doesn't have, isn't guessing. */
function isMiss(error: unknown): boolean {
  return error instanceof ErrandError && error.reason === 'not_found' && error.details.why === undefined;
}

function tooMany(freeInMs: number): ErrandError {
  return new ErrandError('rate_limited', 'Too many unknown codes or keys from your address. Try again later.', {
    details: { retryAfterSeconds: freeInMs / 1_000 },
  });
}
