// Office Mode through the client: what administrators read of all users' runs, and live events (§4.8).
import type { TodayItemWire } from '../wire/office/entity.ts';
import { office } from '../wire/office/office.ts';
import { followOffice, type FollowOptions, type OfficeNews } from './office-stream.ts';
import type { CallManagement } from './references.ts';
import { queryOf } from './transport/query.ts';
import { streamOpener } from './transport/stream-connection.ts';
import type { Address } from './transport/transport.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

export type { LastHourWire, SnapshotWire, TodayRunsWire } from '../wire/office/snapshot.ts';
export type { EntityWire, TodayItemWire } from '../wire/office/entity.ts';
export type { OfficeEventsWire } from '../wire/office/stream.ts';
export type SourceType = TodayItemWire['source_type'];

/** Office Mode. The reads throw ClientError; a credential that isn't an administrator's gets `refused`. */
export interface Office extends Verbs<typeof office> {
  /** Run-level events of all sessions, without end: across broken connections, refusals and restarts. */
  follow(options?: FollowOptions): AsyncGenerator<OfficeNews, void, undefined>;
  /** All events of a session, or of one of its runs, in the same way; with `replay`, from the session's first one on. */
  followSession(
    id: string,
    options?: FollowOptions & { readonly replay?: boolean | undefined; readonly runId?: string | undefined },
  ): AsyncGenerator<OfficeNews, void, undefined>;
}

/** The connection of a client, for what is followed. */
interface Connection {
  readonly address: Address;
  readonly signal: AbortSignal | undefined;
}

const BASE = '/api/v1/office-mode';

export function makeOffice(call: CallManagement, complete: Complete, { address, signal }: Connection): Office {
  return {
    ...verbsOf(office, call, complete),
    follow: (options = {}) => followOffice(streamOpener(address, `${BASE}/stream`), { signal, ...options }),
    followSession: (id, { replay, runId, ...options } = {}) => {
      const session = `${BASE}/sessions/${encodeURIComponent(id)}`;
      const path =
        runId === undefined
          ? `${session}/stream${queryOf({ replay })}`
          : `${session}/run-events/stream${queryOf({ run_id: runId })}`;
      return followOffice(streamOpener(address, path), { signal, ...options });
    },
  };
}
