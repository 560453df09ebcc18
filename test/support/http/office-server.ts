// A scripted daemon that speaks only Office Mode: real HTTP on loopback, with a snapshot, a stream, and bad days.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventType } from '../../../src/domain/sessions/journal-event.ts';
import type { OfficeEventWire } from '../../../src/wire/journal-event.ts';
import type {
  EntityWire,
  LastHourWire,
  OfficeEventsWire,
  SnapshotWire,
  TodayItemWire,
  TodayRunsWire,
} from '../../../src/client/office.ts';
import type { LiveRunsWire } from '../../../src/wire/office/snapshot.ts';

export const AT = Date.parse('2026-03-01T12:00:00.000Z');

const uuidOf = (kind: string, number: number) => `0198c0de-0000-7000-${kind}-${String(number).padStart(12, '0')}`;
export const runId = (number: number) => uuidOf('8000', number);
export const sessionId = (number: number) => uuidOf('9000', number);

/** A running run. */
export function anEntity(number: number, over: Partial<EntityWire> = {}): EntityWire {
  return {
    id: runId(number),
    kind: 'session-run',
    title: over.session_title ?? `Plot the sales of quarter ${number}`,
    subtitle: 'Ann Arbor · Research',
    status: 'running',
    meta: '18.2k tokens · $0.07 · 3 tools',
    progress: 45,
    detail: 'shell: python plot.py',
    model_wait: null,
    team_id: 't1',
    node: null,
    team_name: 'Research',
    run_id: runId(number),
    session_id: sessionId(number),
    session_title: `Plot the sales of quarter ${number}`,
    user_id: uuidOf('a000', 1),
    username: 'ann',
    full_name: 'Ann Arbor',
    started_at: new Date(AT - 60_000 - number * 1000).toISOString(),
    finished_at: null,
    updated_at: new Date(AT).toISOString(),
    elapsed_seconds: 60 + number,
    last_error: null,
    total_cost_usd: 0.07,
    total_tokens: 18_200,
    message_count: 2,
    artifact_count: 1,
    can_view_conversation: true,
    conversation_access_mode: 'admin_readonly',
    ...over,
  };
}

export function aTeam(
  number: number,
  over: Partial<SnapshotWire['teams'][number]> = {},
): SnapshotWire['teams'][number] {
  return {
    id: `t${number}`,
    name: ['', 'Research', 'Sales', 'Support'][number] ?? `Team ${number}`,
    budget_amount_usd: 20,
    today_active: 3,
    scheduled_task_count: 0,
    today_total_tokens: 310_000,
    today_cost_usd: 8.2,
    created_at: new Date(AT - 1e9).toISOString(),
    updated_at: new Date(AT).toISOString(),
    ...over,
  };
}

/** A snapshot of some runs; its counters count them. */
export function aSnapshot(entities: readonly EntityWire[], over: Partial<SnapshotWire> = {}): SnapshotWire {
  const count = (status: EntityWire['status']) => entities.filter((entity) => entity.status === status).length;
  return {
    generated_at: new Date(AT).toISOString(),
    overview: {
      total: entities.length,
      running: count('running'),
      pending: count('pending'),
      failed: count('failed'),
      completed: count('completed'),
      idle: count('idle'),
      visible_conversations: entities.length,
      total_cost_usd: 12.41,
      total_tokens: 3_100_000,
    },
    permissions: { allow_other_conversations: true, conversation_access_label: 'Administrator, read only' },
    teams: [aTeam(1), aTeam(2, { budget_amount_usd: null, today_cost_usd: 4.21 })],
    entities: [...entities],
    recent_sessions: [],
    ...over,
  };
}

export function aTodayItem(number: number, over: Partial<TodayItemWire> = {}): TodayItemWire {
  const entity = anEntity(number);
  return {
    ...entity,
    title: over.session_title ?? entity.title,
    id: `${entity.session_id}:${entity.run_id}`,
    is_deleted: false,
    source_type: 'normal_session',
    scheduled_task_id: null,
    scheduled_task_step_id: null,
    ...over,
  };
}

/** An event that the server has yet to number. */
export type NewEvent = OfficeEventWire extends infer E ? (E extends OfficeEventWire ? Omit<E, 'id'> : never) : never;

/** An event of a run; the server numbers it. Tests leave out of its payload what they are not about. */
export function anEvent(number: number, type: EventType, payload: object = {}): NewEvent {
  const head = { session_id: sessionId(number), run_id: runId(number), stream_seq: null };
  return { type, ...head, payload } as unknown as NewEvent;
}

export interface OfficeServer {
  readonly url: () => string;
  /** What the daemon knows; a test changes it. */
  snapshot: SnapshotWire;
  today: readonly TodayItemWire[];
  /** All live runs, of which a snapshot has the first. */
  live: readonly EntityWire[];
  /** What the teams used in the last hour. */
  lastHour: LastHourWire['teams'];
  /** The reply to a read of a session, by the end of its path, such as `summary`; a function replies to its query. */
  readonly ofSession: Map<string, unknown>;
  /** What is fetched at addresses outside of the API, by path. */
  readonly files: Map<string, string>;
  /** Replies with this status to everything; null: normal replies. */
  status: number | null;
  /** Delays replies by this long. */
  delayMs: number;
  /** Sends `reset` to watchers that resume. */
  forgets: boolean;
  /** Requests as they came: path and query. */
  readonly requests: string[];
  /** The most snapshots that were being answered at a time. */
  readonly mostAtOnce: () => number;
  /** Connections to the stream now. */
  readonly watchers: () => number;
  /** Ids of sessions that are not there. */
  readonly gone: Set<string>;
  /** Keeps an event that the streams leave out: a gap. */
  readonly keep: (event: NewEvent) => void;
  /** Sends an event to all watchers, and keeps it for those that resume. */
  readonly emit: (event: NewEvent) => void;
  /** Sends the last words of a run to all watchers of the installation, as of an event. They are not kept. */
  readonly say: (number: number, text: string, id: number) => void;
  /** Ends all connections and stops listening. */
  readonly die: () => Promise<void>;
  /** Listens at the same address again. */
  readonly rise: () => Promise<void>;
}

/** Starts it. The caller has to end it. */
export async function startOfficeServer(snapshot: SnapshotWire = aSnapshot([anEntity(1)])): Promise<OfficeServer> {
  const watchers = new Map<ServerResponse, string | null>();
  const events: OfficeEventWire[] = [];
  let port = 0;
  let http: Server | undefined;
  let [atOnce, mostAtOnce] = [0, 0];

  const rise = async () => {
    http = createServer((request, response) => void answer(request, response));
    http.listen(port, '127.0.0.1');
    await once(http, 'listening');
    port = (http.address() as AddressInfo).port;
  };

  const server: OfficeServer = {
    url: () => `http://127.0.0.1:${port}`,
    snapshot,
    today: [],
    live: [],
    lastHour: [],
    ofSession: new Map(),
    files: new Map(),
    status: null,
    delayMs: 0,
    forgets: false,
    requests: [],
    mostAtOnce: () => mostAtOnce,
    watchers: () => watchers.size,
    gone: new Set(),
    keep: (event) => void events.push({ id: events.length + 1, ...event }),
    emit(event) {
      const numbered = { id: events.length + 1, ...event };
      events.push(numbered);
      for (const [watcher, session] of watchers) if (isFor(session)(numbered)) watcher.write(blockOf(numbered));
    },
    say(number, text, id) {
      const head = { id, type: 'run.words', session_id: sessionId(number), run_id: runId(number), stream_seq: id };
      const block = `event: run.words\ndata: ${JSON.stringify({ ...head, payload: { text } })}\n\n`;
      for (const [watcher, session] of watchers) if (session === null) watcher.write(block);
    },
    async die() {
      const closing = http;
      http = undefined;
      if (closing === undefined) return;
      closing.closeAllConnections();
      await new Promise((resolve) => closing.close(resolve));
    },
    rise,
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://daemon');
    server.requests.push(`${url.pathname}${url.search}`);
    response.on('error', () => undefined);
    if (url.pathname.endsWith('/snapshot')) {
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      response.on('close', () => {
        atOnce -= 1;
      });
    }
    if (server.delayMs > 0) await pause(server.delayMs, undefined, { ref: false });
    if (server.status !== null) return reply(response, server.status, null);
    if (url.pathname.endsWith('/office-mode/stream')) return watch(request, response);
    const [, session, read = ''] = /\/session(?:s)?\/([^/]+)\/?(.*)$/.exec(url.pathname) ?? [];
    if (session !== undefined) return answerOfSession(session, read, { request, response, url });
    const file = server.files.get(url.pathname);
    if (file !== undefined) return void response.end(file);
    if (url.pathname.endsWith('/snapshot')) return reply(response, 200, server.snapshot);
    if (url.pathname.endsWith('/live-runs')) return reply(response, 200, livePageOf(server.live, url));
    if (url.pathname.endsWith('/last-hour')) return reply(response, 200, lastHourOf(server.lastHour));
    if (url.pathname.endsWith('/today-active-runs')) return reply(response, 200, pageOf(server.today, url));
    if (url.pathname.endsWith('/queue')) return reply(response, 200, QUEUE);
    return reply(response, 404, null);
  }

  function answerOfSession(
    session: string,
    read: string,
    { request, response, url }: { request: IncomingMessage; response: ServerResponse; url: URL },
  ): void {
    if (server.gone.has(session)) return reply(response, 404, null);
    if (read === 'stream' || read === 'run-events/stream') return watch(request, response, session);
    if (read === 'stream-events') {
      const own = events.filter((event) => event.session_id === session);
      return reply(response, 200, eventsOf(session, own, url));
    }
    const known = server.ofSession.get(read);
    const answer: unknown = typeof known === 'function' ? known(url.searchParams) : known;
    return reply(response, answer === undefined ? 404 : 200, answer ?? null);
  }

  function watch(request: IncomingMessage, response: ServerResponse, session: string | null = null): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 2000\n\n');
    const last = request.headers['last-event-id'];
    if (last !== undefined && server.forgets)
      response.write(`${events.length === 0 ? '' : `id: ${events.length}\n`}event: reset\ndata: {}\n\n`);
    else if (last !== undefined) {
      for (const event of events.filter(({ id }) => id > Number(last)).filter(isFor(session)))
        response.write(blockOf(event));
    } else if (request.url?.includes('replay=true') === true) {
      for (const event of events.filter(isFor(session))) response.write(blockOf(event));
    }
    watchers.set(response, session);
    response.on('close', () => watchers.delete(response));
  }

  await rise();
  return server;
}

const QUEUE = { items: [], total: 1, waiting_for_user: 0, claiming: true, slots: 8, busy: 4 };

/** A session's stream has all its events, the installation's has none. */
const isFor = (session: string | null) => (event: OfficeEventWire) =>
  session === null ? !event.type.startsWith('content_block') : event.session_id === session;

function eventsOf(session: string, known: readonly OfficeEventWire[], { searchParams }: URL): OfficeEventsWire {
  const number = (name: string, absent: number) => Number(searchParams.get(name) ?? absent);
  const runId = searchParams.get('run_id');
  const all = known.filter(
    (event) =>
      event.id > number('after_id', 0) &&
      event.id < number('before_id', Number.MAX_SAFE_INTEGER) &&
      (runId === null || (event.run_id === runId && (event.stream_seq ?? 0) >= number('from_stream_seq', 0))),
  );
  const ordered = searchParams.get('order') === 'desc' ? all.toReversed() : all;
  const items = ordered.slice(0, number('limit', 500));
  const ids = items.map(({ id }) => id);
  return {
    session_id: session,
    items,
    has_more: items.length < all.length,
    next_after_id: Math.max(0, ...ids),
    next_before_id: ids.length === 0 ? null : Math.min(...ids),
  };
}

const blockOf = (event: OfficeEventWire) => `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function reply(response: ServerResponse, status: number, data: unknown): void {
  const isOk = status < 300;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ code: isOk ? 0 : status, message: isOk ? 'ok' : 'It is not well.', data }));
}

function livePageOf(live: readonly EntityWire[], { searchParams }: URL): LiveRunsWire {
  const [limit, offset] = [Number(searchParams.get('limit')), Number(searchParams.get('offset'))];
  const items = live.slice(offset, offset + limit);
  return { generated_at: new Date(AT).toISOString(), items, total: live.length, limit, offset };
}

const lastHourOf = (teams: LastHourWire['teams']): LastHourWire => ({
  generated_at: new Date(AT).toISOString(),
  step_seconds: 900,
  teams,
});

function pageOf(today: readonly TodayItemWire[], { searchParams }: URL): TodayRunsWire {
  const [limit, page] = [Number(searchParams.get('limit')), Number(searchParams.get('page') ?? 1)];
  const source = searchParams.get('source_type');
  const all = today.filter(({ source_type: type }) => source === null || type === source);
  const hasMore = page * limit < all.length;
  return {
    team_id: 't1',
    generated_at: new Date(AT).toISOString(),
    items: all.slice((page - 1) * limit, page * limit),
    total: all.length,
    item_total: all.length,
    limit,
    page,
    has_more: hasMore,
    next_page: hasMore ? page + 1 : null,
  };
}
