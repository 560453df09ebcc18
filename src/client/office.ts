// Office Mode through the client: what administrators read of everybody's runs, and what happens as it happens (§4.8).
import type { Static } from '../wire/shape.ts';
import type { snapshot, todayRuns } from '../wire/office/snapshot.ts';
import type { entity, todayItem } from '../wire/office/entity.ts';
import type { CallManagement } from './references.ts';
import { followOffice, type FollowOptions, type OfficeNews } from './office-stream.ts';
import { queryOf } from './transport/query.ts';
import type { Address } from './transport/transport.ts';

export type SnapshotWire = Static<typeof snapshot>;
export type TodayRunsWire = Static<typeof todayRuns>;
export type EntityWire = Static<typeof entity>;
export type TodayItemWire = Static<typeof todayItem>;
export type SourceType = TodayItemWire['source_type'];

/** The reads of Office Mode. All throw ClientError; a credential that isn't an administrator's gets `refused`. */
export interface Office {
  /** `limit`: run entities, 1 to 96. `tz`: the time zone whose day "today" is. */
  snapshot(query: { readonly limit?: number; readonly tz?: string }): Promise<SnapshotWire>;
  /** `limit`: rows of a page, 1 to 50; `page` counts from 1. */
  todayRuns(teamId: string, query: TodayQuery): Promise<TodayRunsWire>;
  /** Run-level events of the whole house, without end: across broken connections, refusals and restarts. */
  follow(options?: FollowOptions): AsyncGenerator<OfficeNews, void, undefined>;
}

export interface TodayQuery {
  readonly limit?: number;
  readonly page?: number;
  readonly source_type?: SourceType;
  readonly tz?: string;
}

/** Makes the reads over the client's own way to call. */
export function makeOffice(call: CallManagement, address: Address, signal: AbortSignal | undefined): Office {
  const read = <T>(path: string, query: object = {}) =>
    call<T>('GET', `/office-mode${path}${queryOf(query as Readonly<Record<string, string | number | undefined>>)}`);
  return {
    snapshot: (query) => read('/snapshot', query),
    todayRuns: (teamId, query) => read(`/teams/${encodeURIComponent(teamId)}/today-active-runs`, query),
    follow: (options = {}) => followOffice(address, '/api/v1/office-mode/stream', { signal, ...options }),
  };
}
