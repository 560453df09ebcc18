// Office Mode through the client: what administrators read of all users' runs, and live events (§4.8).
import type { pageQuery } from '../wire/listing.ts';
import type { TodayItemWire } from '../wire/office/entity.ts';
import type {
  ContextUsageWire,
  officeArchive,
  OfficeDetailWire,
  officeMessagesQuery,
  OfficeMessagesWire,
  officePicture,
  OfficeRunsWire,
  OfficeSessionWire,
  OfficeSummaryWire,
  RunRoundsWire,
} from '../wire/office/session.ts';
import type {
  LastHourWire,
  LiveRunsWire,
  snapshotQuery,
  SnapshotWire,
  todayQuery,
  TodayRunsWire,
} from '../wire/office/snapshot.ts';
import type { eventsQuery, OfficeEventsWire, sessionStreamQuery } from '../wire/office/stream.ts';
import type { FileNodeWire } from '../wire/sessions/artifact.ts';
import type { Static } from '../wire/shape.ts';
import { followOffice, type FollowOptions, type OfficeNews } from './office-stream.ts';
import type { CallManagement } from './references.ts';
import { type Query, type QueryFields, queryOf } from './transport/query.ts';
import type { Address } from './transport/transport.ts';

export type { LastHourWire, SnapshotWire, TodayRunsWire } from '../wire/office/snapshot.ts';
export type { EntityWire, TodayItemWire } from '../wire/office/entity.ts';
export type { OfficeEventsWire } from '../wire/office/stream.ts';
export type SourceType = TodayItemWire['source_type'];

/** Office Mode. The reads throw ClientError; a credential that isn't an administrator's gets `refused`. */
export interface Office {
  /** `limit`: run entities, 1 to 96. `tz`: the time zone whose day "today" is. */
  snapshot(query: Query<typeof snapshotQuery>): Promise<SnapshotWire>;
  /** All live runs, by pages; a snapshot has the first of them. */
  liveRuns(query: Query<typeof pageQuery>): Promise<LiveRunsWire>;
  /** What each team used in the last hour, in steps. */
  lastHour(): Promise<LastHourWire>;
  todayRuns(teamId: string, query: Query<typeof todayQuery>): Promise<TodayRunsWire>;
  session(id: string): Promise<OfficeSessionWire>;
  detail(id: string): Promise<OfficeDetailWire>;
  summary(id: string): Promise<OfficeSummaryWire>;
  /** The newest page first; `before_id` leads on to the past. */
  messages(id: string, query: Query<typeof officeMessagesQuery>): Promise<OfficeMessagesWire>;
  /** Ids exclude; `from_stream_seq` includes, and needs a `run_id` (G22). */
  events(id: string, query: Query<typeof eventsQuery>): Promise<OfficeEventsWire>;
  runs(id: string, query: Query<typeof pageQuery>): Promise<OfficeRunsWire>;
  rounds(id: string, query: Query<typeof pageQuery>): Promise<RunRoundsWire>;
  contextUsage(id: string): Promise<ContextUsageWire>;
  /** What the browser showed at a tool use. */
  picture(id: string, toolUseId: string): Promise<Static<typeof officePicture>>;
  /** Empty while the files are not ready. Addresses are for `Client.download`. */
  files(id: string): Promise<readonly FileNodeWire[]>;
  archive(id: string): Promise<Static<typeof officeArchive>>;
  /** Run-level events of all sessions, without end: across broken connections, refusals and restarts. */
  follow(options?: FollowOptions): AsyncGenerator<OfficeNews, void, undefined>;
  /** All events of a session, in the same way; with `replay`, from its first one on. */
  followSession(
    id: string,
    options?: FollowOptions & Pick<Query<typeof sessionStreamQuery>, 'replay'>,
  ): AsyncGenerator<OfficeNews, void, undefined>;
}

const BASE = '/api/v1/office-mode';

/** Makes the reads over the client's own way to call. */
export function makeOffice(call: CallManagement, address: Address, signal: AbortSignal | undefined): Office {
  const read = <T>(path: string, query: QueryFields = {}) => call<T>('GET', `/office-mode${path}${queryOf(query)}`);
  const of = (id: string) => `/sessions/${encodeURIComponent(id)}`;
  return {
    snapshot: (query) => read('/snapshot', query),
    liveRuns: (query) => read('/live-runs', query),
    lastHour: () => read('/last-hour'),
    todayRuns: (teamId, query) => read(`/teams/${encodeURIComponent(teamId)}/today-active-runs`, query),
    session: (id) => read(of(id)),
    detail: (id) => read(`${of(id)}/detail`),
    summary: (id) => read(`${of(id)}/summary`),
    messages: (id, query) => read(`${of(id)}/messages-with-files`, query),
    events: (id, query) => read(`${of(id)}/stream-events`, query),
    runs: (id, query) => read(`/office-runs/session/${encodeURIComponent(id)}`, query),
    rounds: (id, query) => read(`${of(id)}/run-rounds`, query),
    contextUsage: (id) => read(`${of(id)}/context-usage`),
    picture: (id, toolUseId) => read(`${of(id)}/computer/browser/${encodeURIComponent(toolUseId)}`),
    files: (id) => read(`${of(id)}/workspace/files`),
    archive: (id) => read(`${of(id)}/workspace/archive`),
    follow: (options = {}) => followOffice(address, `${BASE}/stream`, { signal, ...options }),
    followSession: (id, { replay, ...options } = {}) =>
      followOffice(address, `${BASE}${of(id)}/stream${queryOf({ replay })}`, { signal, ...options }),
  };
}
