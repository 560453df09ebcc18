// The client's verbs on what is removed by age.
import type { CollectionWire, RetentionWire } from '../wire/retention.ts';
import type { CallManagement } from './references.ts';

export interface RetentionVerbs {
  get(): Promise<RetentionWire>;
  /** Begins to remove what is old enough. `trustClock`: also what a jump of the clock holds back. */
  collect(trustClock: boolean): Promise<CollectionWire>;
}

export function makeRetentionVerbs(call: CallManagement): RetentionVerbs {
  return {
    get: () => call('GET', '/retention'),
    collect: (trustClock) => call('POST', '/retention/collect', { trust_clock: trustClock }),
  };
}
