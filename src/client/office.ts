// Office Mode through the client: what administrators read of everybody's runs, and what happens as it happens (§4.8).
import type { entity, todayItem } from '../wire/office/entity.ts';
import type {
  contextUsage,
  officeArchive,
  officeDetail,
  officeMessages,
  officePicture,
  officeRuns,
  officeSession,
  officeSummary,
  runRounds,
} from '../wire/office/session.ts';
import type { snapshot, todayRuns } from '../wire/office/snapshot.ts';
import type { FileNodeWire } from '../wire/sessions/artifact.ts';
import type { Static } from '../wire/shape.ts';
import { followOffice, type FollowOptions, type OfficeEvent, type OfficeNews } from './office-stream.ts';
import type { CallManagement } from './references.ts';
import { queryOf } from './transport/query.ts';
import type { Address } from './transport/transport.ts';

export type SnapshotWire = Static<typeof snapshot>;
export type TodayRunsWire = Static<typeof todayRuns>;
export type EntityWire = Static<typeof entity>;
export type TodayItemWire = Static<typeof todayItem>;
export type SourceType = TodayItemWire['source_type'];

export interface TodayQuery {
  /** 1 to 50. */
  readonly limit?: number;
  /** From 1. */
  readonly page?: number;
  readonly source_type?: SourceType;
  readonly tz?: string;
}

/** Ids exclude, `from_stream_seq` includes and needs a `run_id` (G22). */
export interface EventsQuery {
  readonly after_id?: number;
  readonly before_id?: number;
  readonly run_id?: string;
  readonly from_stream_seq?: number;
  /** 1 to 500. */
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
}

/** A page of a session's events (G5). */
export interface OfficeEventsWire {
  readonly session_id: string;
  readonly items: readonly OfficeEvent[];
  readonly has_more: boolean;
  readonly next_after_id: number;
  readonly next_before_id: number | null;
}

export interface PageQuery {
  /** 1 to 500. */
  readonly limit?: number;
  readonly offset?: number;
}

/** Office Mode. The reads throw ClientError; a credential that isn't an administrator's gets `refused`. */
export interface Office {
  /** `limit`: run entities, 1 to 96. `tz`: the time zone whose day "today" is. */
  snapshot(query: { readonly limit?: number; readonly tz?: string }): Promise<SnapshotWire>;
  todayRuns(teamId: string, query: TodayQuery): Promise<TodayRunsWire>;
  session(id: string): Promise<Static<typeof officeSession>>;
  detail(id: string): Promise<Static<typeof officeDetail>>;
  summary(id: string): Promise<Static<typeof officeSummary>>;
  /** The newest page first; `before_id` leads on to the past. */
  messages(
    id: string,
    query: { readonly limit?: number; readonly before_id?: number },
  ): Promise<Static<typeof officeMessages>>;
  events(id: string, query: EventsQuery): Promise<OfficeEventsWire>;
  runs(id: string, query: PageQuery): Promise<Static<typeof officeRuns>>;
  rounds(id: string, query: PageQuery): Promise<Static<typeof runRounds>>;
  contextUsage(id: string): Promise<Static<typeof contextUsage>>;
  /** What the browser showed at a tool use. */
  picture(id: string, toolUseId: string): Promise<Static<typeof officePicture>>;
  /** Empty while the files are not ready. Addresses are for `Client.download`. */
  files(id: string): Promise<readonly FileNodeWire[]>;
  archive(id: string): Promise<Static<typeof officeArchive>>;
  /** Run-level events of the whole house, without end: across broken connections, refusals and restarts. */
  follow(options?: FollowOptions): AsyncGenerator<OfficeNews, void, undefined>;
  /** All events of a session, in the same way; with `replay`, from its first one on. */
  followSession(
    id: string,
    options?: FollowOptions & { readonly replay?: boolean },
  ): AsyncGenerator<OfficeNews, void, undefined>;
}

const BASE = '/api/v1/office-mode';

/** Makes the reads over the client's own way to call. */
export function makeOffice(call: CallManagement, address: Address, signal: AbortSignal | undefined): Office {
  const read = <T>(path: string, query: object = {}) =>
    call<T>('GET', `/office-mode${path}${queryOf(query as Readonly<Record<string, string | number | undefined>>)}`);
  const of = (id: string) => `/sessions/${encodeURIComponent(id)}`;
  return {
    snapshot: (query) => read('/snapshot', query),
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
    followSession: (id, { replay = false, ...options } = {}) =>
      followOffice(address, `${BASE}${of(id)}/stream${replay ? '?replay=true' : ''}`, { signal, ...options }),
  };
}
