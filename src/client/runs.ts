// The client's verbs on runs.
import type { ListWire } from '../wire/listing.ts';
import type { JournalEventWire } from '../wire/journal-event.ts';
import type { RunArtifactsWire } from '../wire/sessions/artifact.ts';
import type { runQuery, RunWire } from '../wire/sessions/run.ts';
import type { RunExportWire } from '../wire/sessions/run-export.ts';
import type { StopWire } from '../wire/sessions/session.ts';
import type { TimelineWire } from '../wire/sessions/timeline.ts';
import type { CallManagement, References } from './references.ts';
import { type TailOptions, tailRun } from './run-tail.ts';
import { type Query, queryOf } from './transport/query.ts';
import type { Address } from './transport/transport.ts';

/** Every `id` is an id, or the start of one. */
export interface Runs {
  list(query: Query<typeof runQuery>): Promise<ListWire<RunWire>>;
  get(id: string): Promise<RunWire>;
  /** Where its time went. */
  timeline(id: string): Promise<TimelineWire>;
  /** What its model was asked. */
  export(id: string): Promise<RunExportWire>;
  /** What the run has made, with addresses that are valid for 15 minutes. */
  artifacts(id: string): Promise<RunArtifactsWire>;
  stop(id: string): Promise<StopWire>;
  /** The run's events from its first to its last, live and across broken connections. */
  tail(id: string, options?: Omit<TailOptions, 'signal'>): AsyncGenerator<JournalEventWire, void, undefined>;
}

/** The connection of a client, for what is followed. */
interface Connection {
  readonly address: Address;
  readonly signal: AbortSignal | undefined;
}

export function makeRuns(call: CallManagement, { at, whole }: References, { address, signal }: Connection): Runs {
  return {
    list: async (query) =>
      call('GET', `/runs${queryOf({ ...query, session: await whole('sessions', query.session) })}`),
    get: async (id) => call('GET', await at('runs', id)),
    timeline: async (id) => call('GET', `${await at('runs', id)}/timeline`),
    export: async (id) => call('GET', `${await at('runs', id)}/export`),
    artifacts: async (id) => call('GET', `${await at('runs', id)}/artifacts`),
    stop: async (id) => call('POST', `${await at('runs', id)}/stop`),
    tail: async function* (id, options = {}) {
      yield* tailRun(address, await whole('runs', id), { ...options, signal });
    },
  };
}
