// The client's verbs on what is removed by age.
import { type CollectionWire, retention } from '../wire/retention.ts';
import type { CallManagement } from './references.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

export interface RetentionVerbs extends Omit<Verbs<typeof retention>, 'collect'> {
  /** Begins to remove what is old enough. `trustClock`: also what a jump of the clock holds back. */
  collect(trustClock: boolean): Promise<CollectionWire>;
}

export function makeRetentionVerbs(call: CallManagement, complete: Complete): RetentionVerbs {
  const verbs = verbsOf(retention, call, complete);
  return { ...verbs, collect: async (trustClock) => verbs.collect({ trust_clock: trustClock }) };
}
