// The client's verbs on what is removed by age.
import type { CollectionWire, OrphansWire, RetentionProgressWire, RetentionWire } from '../wire/retention.ts';
import type { CallManagement } from './references.ts';

export interface RetentionVerbs {
  get(): Promise<RetentionWire>;
  orphans(): Promise<OrphansWire>;
  progress(): Promise<RetentionProgressWire>;
  /** Begins to remove what is old enough. `trustClock`: also what a jump of the clock holds back. */
  collect(trustClock: boolean): Promise<CollectionWire>;
}

export function makeRetentionVerbs(call: CallManagement): RetentionVerbs {
  return {
    get: () => call('GET', '/retention'),
    orphans: () => call('GET', '/retention/orphans'),
    progress: () => call('GET', '/retention/progress'),
    collect: (trustClock) => call('POST', '/retention/collect', { trust_clock: trustClock }),
  };
}
