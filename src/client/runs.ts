// The client's verbs on runs.
import type { JournalEventWire } from '../wire/journal-event.ts';
import { runs } from '../wire/sessions/runs.ts';
import { namingWhat } from './named-not-found.ts';
import type { CallManagement } from './references.ts';
import { type TailOptions, tailRun } from './turns/run-tail.ts';
import type { Address } from './transport/transport.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

/** Every `id` is an id, or the start of one. */
export interface Runs extends Verbs<typeof runs> {
  /** The run's events from its first to its last, live and across broken connections. */
  tail(id: string, options?: Omit<TailOptions, 'signal'>): AsyncGenerator<JournalEventWire, void, undefined>;
}

/** The connection of a client, for what is followed. */
interface Connection {
  readonly address: Address;
  readonly signal: AbortSignal | undefined;
}

export function makeRuns(call: CallManagement, complete: Complete, { address, signal }: Connection): Runs {
  return {
    ...verbsOf(runs, call, complete),
    tail: async function* (id, options = {}) {
      try {
        yield* tailRun(address, await complete('runs', id), { ...options, signal });
      } catch (error) {
        throw namingWhat(error, [{ reference: id, noun: 'runs' }]);
      }
    },
  };
}
