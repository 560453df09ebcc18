// Limits login attempts by address and by account.
import { accountOf } from '../../domain/people/account-name.ts';
import type { Clock } from '../../domain/clock.ts';
import { networkOf } from '../../outbound/address-range.ts';
import { GROWING_WAITS, makeThrottle } from './throttle.ts';

/** One attempt. `account` is the name as given; null where only the reply shows whose account it is. */
export interface LoginTry {
  readonly address: string;
  readonly account: string | null;
}

/** Runs a login that returns undefined when it failed. Throws `rate_limited` instead of running it. */
export type LoginThrottle = <T>(who: LoginTry, login: () => Promise<T | undefined>) => Promise<T | undefined>;

const MAX_HOMES = 10_000;
/** No account has a longer name. */
const MAX_ACCOUNT_LENGTH = 256;

/**
 * Makes the throttle: ten failures a minute by address (B7), growing waits by account. An address from which the account has
 * logged in before is exempt from the account's waits, so that guessing from elsewhere does not lock out its owner.
 */
export function makeLoginThrottle(clock: Clock, maxHomes = MAX_HOMES): LoginThrottle {
  const byAddress = makeThrottle(clock);
  const byAccount = makeThrottle(clock, GROWING_WAITS);
  const homes = new Set<string>();

  function noteHome(home: string): void {
    // At the end, with the latest ones.
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
