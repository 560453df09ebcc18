// What administrators watch and read of the journal: a session, one of its runs, all runs (§4.8).
import { notFound, unprocessable } from '../../domain/errors.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Following, Watcher } from '../../events/feed.ts';
import type { OfficeFeed } from '../../events/office-feed.ts';
import type { SessionFeeds } from '../../events/session-feeds.ts';
import type { EventRange } from '../../store/journal/pages.ts';
import type { EventOfSession, SessionEvents } from '../../store/journal/session-events.ts';
import type { RunRecord } from '../../store/runs/run-records.ts';
import type { SessionRecord } from '../../store/sessions/session-records.ts';
import type { Access } from '../access.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';

/** Sends a watcher events from now on, or from where it left off. */
export type Follow = (watcher: Watcher) => Following;

export interface EventQuery extends EventRange {
  readonly runId: string | null;
  /** Only for a run. */
  readonly fromStreamSeq: number | null;
}

/** A page of a session's events, and whether more follow in its order. */
export interface EventPage {
  readonly sessionId: string;
  readonly items: readonly EventOfSession[];
  readonly hasMore: boolean;
}

export interface WatchParts {
  readonly store: { readonly events: Pick<SessionEvents, 'listOfSession' | 'listOfRunInSession'> };
  readonly access: Pick<Access, 'run'>;
  readonly auditedAccess: Pick<AuditedAccess, 'session'>;
  readonly audit: Pick<Audit, 'read'>;
  readonly feeds: SessionFeeds;
  readonly floor: OfficeFeed;
}

/** All runs, audited: their events contain the beginnings and the last words of texts, and the inputs of tool calls. */
const EVERYBODYS = { id: 'house', userId: '' };

/** The verbs. Those that take an id throw `not_found`, also for a run of another session. */
export function makeWatchOperations({ store, access, audit, auditedAccess, feeds, floor }: WatchParts) {
  async function runOf(caller: Administrator, session: SessionRecord, id: string): Promise<RunRecord> {
    const run = await access.run(caller, id);
    if (run.sessionSeq !== session.seq) throw notFound('Run');
    return run;
  }

  return {
    /**
     * A page of a session's events, or of those of one run. Throws `unprocessable` for a place in a run's sequence without a
     * run.
     */
    listStreamEvents: async (caller: Administrator, id: string, query: EventQuery): Promise<EventPage> => {
      const { runId, fromStreamSeq, limit } = query;
      if (fromStreamSeq !== null && runId === null)
        throw unprocessable('from_stream_seq', 'is allowed only together with run_id');
      const session = await auditedAccess.session(caller, id);
      // One more than is returned shows whether there are more.
      const range = { ...query, limit: limit + 1 };
      const { events, isCut } =
        runId === null
          ? await store.events.listOfSession(session.seq, range)
          : await store.events.listOfRunInSession(await runOf(caller, session, runId), { range, fromStreamSeq });
      return { sessionId: session.id, items: events.slice(0, limit), hasMore: isCut || events.length > limit };
    },

    /** Follows a session after an event; null: what happens from now on. */
    watchSession: async (caller: Administrator, id: string, afterId: number | null): Promise<Follow> => {
      const session = await auditedAccess.session(caller, id);
      return (watcher) => feeds.ofSession(session).follow(afterId, watcher);
    },

    /** Follows a run of a session, as above. */
    watchRun: async (
      caller: Administrator,
      { sessionId, runId }: { readonly sessionId: string; readonly runId: string },
      afterId: number | null,
    ): Promise<Follow> => {
      const session = await auditedAccess.session(caller, sessionId);
      const run = await runOf(caller, session, runId);
      return (watcher) => feeds.ofRun(session, run).follow(afterId, watcher);
    },

    /**
     * Follows all runs, as above. `resetAt`: the events after the client's are gone, and the stream follows from this
     * one.
     */
    watchOffice: async (
      caller: Administrator,
      afterId: number | null,
    ): Promise<{ readonly follow: Follow; readonly resetAt: number | null }> => {
      await audit.read(caller, 'house.follow', EVERYBODYS);
      const isKept = afterId === null || floor.isKept(afterId);
      return {
        follow: (watcher) => floor.follow(isKept ? afterId : null, watcher),
        resetAt: isKept ? null : floor.newestId(),
      };
    },
  };
}
