// How many test deliveries may be in flight: each holds a connection until its receiver has replied, or its time is over.
import { ErrandError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/people/user.ts';

/** In flight at the same time. */
export const TEST_LIMITS = { all: 8, perCaller: 2 } as const;

/** Runs a test of a caller. Throws `rate_limited` instead of running it. */
export type RunTest = <Result>(caller: Caller, test: () => Promise<Result>) => Promise<Result>;

/** Makes the limit, with nothing in flight. The keys of a user count together. */
export function makeTestLimit(): RunTest {
  const perCaller = new Map<number, number>();
  let all = 0;

  function count(caller: number, by: 1 | -1): void {
    all += by;
    const own = (perCaller.get(caller) ?? 0) + by;
    if (own === 0) perCaller.delete(caller);
    else perCaller.set(caller, own);
  }

  return async (caller, test) => {
    const key = caller.kind === 'operator' ? 0 : caller.user.seq;
    if ((perCaller.get(key) ?? 0) >= TEST_LIMITS.perCaller)
      throw new ErrandError('rate_limited', `At most ${TEST_LIMITS.perCaller} of your tests may be in flight.`);
    if (all >= TEST_LIMITS.all)
      throw new ErrandError('rate_limited', 'Too many tests of webhooks are in flight. Try again later.');
    count(key, 1);
    try {
      return await test();
    } finally {
      count(key, -1);
    }
  };
}
