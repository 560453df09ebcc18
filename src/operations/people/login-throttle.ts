// Who may try to log in now: by the address that asks, and by the account that is asked for.
import { accountOf } from '../../domain/people/account-name.ts';
import type { Clock } from '../../domain/clock.ts';
import { networkOf } from '../../outbound/address-range.ts';
import { GROWING_WAITS, makeThrottle } from './throttle.ts';

/** One try. `account` is the name as it was given; null where only the answer tells whose it is. */
export interface LoginTry {
  readonly address: string;
  readonly account: string | null;
}

/** Runs a login that answers undefined when it failed. Throws `rate_limited` instead of running it. */
export type LoginThrottle = <T>(who: LoginTry, login: () => Promise<T | undefined>) => Promise<T | undefined>;

const MAX_HOMES = 10_000;
/** Longer names are of no account. */
const MAX_ACCOUNT_LENGTH = 256;

/**
 * Makes the throttle: ten failures a minute by address (B7), growing waits by account. An address that an account was logged
 * in from before is spared the account's waits, so that guessing from elsewhere does not lock its owner out.
 */
export function makeLoginThrottle(clock: Clock, maxHomes = MAX_HOMES): LoginThrottle {
  const byAddress = makeThrottle(clock);
  const byAccount = makeThrottle(clock, GROWING_WAITS);
  const homes = new Set<string>();

  function noteHome(home: string): void {
    // At the end, where the latest are.
    homes.delete(home);
    homes.add(home);
    const [oldest] = homes;
    if (homes.size > maxHomes && oldest !== undefined) homes.delete(oldest);
  }

  return ({ address, account: given }, login) => {
    const network = networkOf(address);
    return byAddress(network, async () => {
      if (given === null) return login();
      const account = accountOf(given).slice(0, MAX_ACCOUNT_LENGTH);
      const home = `${network} ${account}`;
      const result = await (homes.has(home) ? login() : byAccount(account, login));
      if (result !== undefined) noteHome(home);
      return result;
    });
  };
}
