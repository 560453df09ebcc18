// The feeds of sessions and of their runs: one feed for all watchers of the same thing, as long as there are any.
import { type JournalEvent, runNamedBy } from '../domain/sessions/journal-event.ts';
import type { EventRange } from '../store/journal/pages.ts';
import type { RunOfSession } from '../store/engine/journal/rows.ts';
import type { EventsOfSession, SessionEvents } from '../store/journal/session-events.ts';
import { renderOfficeEvent } from '../wire/journal-event.ts';
import type { Bus } from './bus.ts';
import { type Feed, OpenFeed } from './feed.ts';
import { frameOf, makeFrameOfEvent } from './office-frames.ts';
import { type Frames, PAGE, type ReadFrames } from './past-pages.ts';
import { makeScopedQueue } from './scoped-queue.ts';
import type { EventScopes } from './event-scopes.ts';

interface Session {
  readonly seq: number;
  readonly id: string;
}

export interface SessionFeeds {
  /** Everything that happens in a session. It ends with the session's deletion. Follow the feed at once. */
  ofSession(session: Session): Feed;
  /** The same for what happens in one run, and to its artifacts. */
  ofRun(session: Session, run: RunOfSession): Feed;
}

export interface SessionFeedParts {
  readonly bus: Bus;
  readonly events: Pick<SessionEvents, 'listOfSession' | 'listOfRunInSession' | 'newestId'>;
  readonly scopes: EventScopes;
}

interface Watched {
  readonly feed: OpenFeed;
  has(event: JournalEvent): boolean;
}

/** The feeds of one session by the run's `seq`, or 0 for the whole session. */
interface WatchedSession {
  readonly feeds: Map<number, Watched>;
  publish(committed: readonly JournalEvent[]): void;
}

export function makeSessionFeeds({ bus, events, scopes }: SessionFeedParts): SessionFeeds {
  const sessions = new Map<number, WatchedSession>();
  const makeWatched = makeWatchedBy(scopes);

  function open(session: Session, key: number, what: Pick<Watched, 'has'> & { read: ReadFrames }): Feed {
    const watched = sessions.get(session.seq) ?? makeWatched();
    const known = watched.feeds.get(key);
    if (known !== undefined) return known.feed;
    const feed = new OpenFeed({
      read: what.read,
      newestId: () => events.newestId(session.seq),
      abandoned: () => {
        watched.feeds.delete(key);
        if (watched.feeds.size === 0) sessions.delete(session.seq);
      },
    });
    watched.feeds.set(key, { feed, has: what.has });
    sessions.set(session.seq, watched);
    return feed;
  }

  bus.subscribeAll((committed) => {
    if (sessions.size === 0) return;
    for (const [sessionSeq, own] of Map.groupBy(committed, (event) => event.sessionSeq))
      sessions.get(sessionSeq)?.publish(own);
  });

  return {
    ofSession: (session) =>
      open(session, 0, {
        has: () => true,
        read: async (afterId) => framesOf(session, await events.listOfSession(session.seq, pageAfter(afterId))),
      }),
    ofRun: (session, run) =>
      open(session, run.seq, {
        has: (event) => event.runSeq === run.seq || event.type === 'session.deleted' || runNamedBy(event) === run.id,
        read: async (afterId) =>
          framesOf(session, await events.listOfRunInSession(run, { range: pageAfter(afterId), fromStreamSeq: null })),
      }),
  };
}

/** The events of a watched session as frames, each encoded once for all its feeds. */
function makeWatchedBy(scopes: EventScopes): () => WatchedSession {
  const frameOfEvent = makeFrameOfEvent(scopes);
  return () => {
    const feeds = new Map<number, Watched>();
    const publish = makeScopedQueue<JournalEvent>({
      scopes,
      scopeOf: (event) => event,
      publish: (committed) => {
        for (const { feed, has } of Array.from(feeds.values())) {
          const own = committed.filter(has);
          if (own.length > 0) feed.publish(own.map(frameOfEvent));
        }
      },
      failed: (error) => {
        for (const { feed } of Array.from(feeds.values())) feed.fail(error);
      },
    });
    return { feeds, publish };
  };
}

const pageAfter = (afterId: number): EventRange => ({ afterId, beforeId: null, order: 'asc', limit: PAGE });

function framesOf({ id: sessionId }: Session, { events, isCut }: EventsOfSession): Frames {
  const frames = events.map(({ event, runId }) => frameOf(renderOfficeEvent(event, { sessionId, runId })));
  return { frames, isCut };
}
