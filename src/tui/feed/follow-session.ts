// Keeps the desk fed: the newest events, then the stream after them, with gaps filled from the daemon's pages.
import type { OfficeEvent } from '../../client/office-stream.ts';
import { ClientError, isAborted } from '../../client/transport/client-error.ts';
import { pause } from '../../client/transport/pause.ts';
import type { DeskState, DeskStream, EventLog } from '../state/desk-state.ts';
import type { Dispatch } from '../state/state.ts';
import { append, appendPage, type Gap, gapBefore, MAX_EVENTS, newestPage, prependPage } from './event-log.ts';
import type { Reads } from './reads.ts';

export const PAGE = 500;
/** Events that come together are taken together. */
const BATCH_MS = 40;
const RETRY_MS = 2000;

export interface FollowParts {
  readonly client: Reads;
  readonly sessionId: string;
  /** Only the events of this run. */
  readonly runId?: string;
  readonly dispatch: Dispatch;
  /** What an earlier visit left, to continue after it; without events, the newest page is read first. */
  readonly log: EventLog;
  readonly signal: AbortSignal;
}

/** A change to the desk of a session; nothing when another one is open by then. */
export function updateDesk(
  dispatch: Dispatch,
  sessionId: string,
  update: (screen: DeskState) => Partial<DeskState>,
): void {
  dispatch({
    type: 'update',
    name: 'desk',
    update: (screen) => (screen.sessionId === sessionId ? { ...screen, ...update(screen) } : screen),
  });
}

/** Follows until the signal aborts or the session is gone. */
export async function followSession(parts: FollowParts): Promise<void> {
  const { client, sessionId, runId, dispatch, signal } = parts;
  const change = (update: (screen: DeskState) => Partial<DeskState>) => {
    if (!signal.aborted) updateDesk(dispatch, sessionId, update);
  };
  const stand = (stream: DeskStream) => change(() => ({ stream }));
  const log = parts.log.events.length > 0 ? parts.log : await readNewest(parts, stand);
  if (log === null) return;
  const batch = makeBatch((events) => change(({ log: before }) => ({ log: append(before, events) })));
  const seqs = new Map(log.lastSeqs);
  const last = log.events.at(-1);
  const from = last === undefined ? { replay: true } : { lastEventId: String(last.id) };
  for await (const news of client.office.followSession(sessionId, { ...from, runId, signal })) {
    if (signal.aborted) break;
    if (news.kind === 'open') stand({ kind: 'live', failure: null });
    else if (news.kind === 'lost') {
      const isGone = isMissing(news.failure);
      stand({ kind: isGone ? 'deleted' : 'lost', failure: news.failure });
      if (isGone) break;
    } else if (news.kind === 'event') {
      batch.take(await withMissing(client, news.event, seqs));
      if (news.event.type !== 'session.deleted') continue;
      stand({ kind: 'deleted', failure: null });
      break;
    }
  }
  batch.flush();
}

/** Reads a page before the first or after the last event in memory. Throws ClientError. */
export async function readPage(
  client: Reads,
  screen: DeskState,
  direction: 'older' | 'newer',
): Promise<DeskChange | undefined> {
  const { events } = screen.log;
  const first = events[0]?.id;
  const last = events.at(-1)?.id;
  if (first === undefined || last === undefined) return undefined;
  const isOlder = direction === 'older';
  const page = await client.office.events(screen.sessionId, {
    limit: PAGE,
    ...(isOlder ? { before_id: first, order: 'desc' } : { after_id: last, order: 'asc' }),
  });
  return ({ log }) => ({ log: isOlder ? prependPage(log, page) : appendPage(log, page) });
}

type DeskChange = (screen: DeskState) => Partial<DeskState>;

/** The newest page alone, as at the beginning. */
export async function readEnd(client: Reads, sessionId: string): Promise<DeskChange> {
  const page = await client.office.events(sessionId, { limit: PAGE, order: 'desc' });
  return () => ({ log: newestPage(page) });
}

/** The log that begins with the newest page; null where the session is gone, or the signal aborted. */
async function readNewest(
  { client, sessionId, runId, dispatch, signal }: FollowParts,
  stand: (stream: DeskStream) => void,
): Promise<EventLog | null> {
  while (!signal.aborted) {
    try {
      const page = await client.office.events(sessionId, { limit: PAGE, order: 'desc', run_id: runId });
      const log = newestPage(page);
      if (!signal.aborted) updateDesk(dispatch, sessionId, () => ({ log }));
      return log;
    } catch (error) {
      if (isAborted(error)) return null;
      if (!(error instanceof ClientError)) throw error;
      stand({ kind: isMissing(error) ? 'deleted' : 'lost', failure: error });
      if (isMissing(error)) return null;
    }
    await pause(RETRY_MS, signal);
  }
  return null;
}

/** The event, after those of its run that the stream left out. Those that can't be read now are asked for again with the next event. */
async function withMissing(
  client: Reads,
  event: OfficeEvent,
  seqs: Map<string, number>,
): Promise<readonly OfficeEvent[]> {
  const gap = gapBefore(seqs, event);
  const missing = gap === undefined ? [] : await readGap(client, event, gap);
  if (missing !== null && event.run_id !== null && event.stream_seq !== null) {
    seqs.set(event.run_id, Math.max(event.stream_seq, seqs.get(event.run_id) ?? 0));
  }
  return [...(missing ?? []), event];
}

/** What is missing before an event, as far back as there is room for it; null where it can't be read. */
async function readGap(
  client: Reads,
  event: OfficeEvent,
  { runId, from }: Gap,
): Promise<readonly OfficeEvent[] | null> {
  const end = event.stream_seq ?? from;
  const missing: OfficeEvent[] = [];
  for (let next = Math.max(from, end - MAX_EVENTS); next < end; ) {
    const query = { run_id: runId, from_stream_seq: next, limit: PAGE };
    const page = await client.office.events(event.session_id, query).catch(() => null);
    if (page === null) return null;
    missing.push(...page.items.filter(({ id }) => id < event.id));
    const last = page.items.at(-1)?.stream_seq ?? end;
    if (!page.has_more || last < next) break;
    next = last + 1;
  }
  return missing;
}

function makeBatch(give: (events: readonly OfficeEvent[]) => void) {
  let waiting: OfficeEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const events = waiting;
    waiting = [];
    if (events.length > 0) give(events);
  };
  return {
    take(events: readonly OfficeEvent[]) {
      waiting.push(...events);
      timer ??= setTimeout(flush, BATCH_MS);
    },
    flush,
  };
}

const isMissing = ({ failure }: ClientError) => failure.kind === 'refused' && failure.status === 404;
