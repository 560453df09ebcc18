// Events as webhooks would be sent them, for developers of receivers: read as they come, or made up.
import type { Clock } from '../../domain/clock.ts';
import { ErrandError, unprocessable } from '../../domain/errors.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { OwnerScope, WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Arrivals } from '../../events/arrivals.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { EventsPage, RenderedEvent } from '../../store/webhooks/read-events.ts';
import { renderBody } from '../../webhooks/bodies/render-body.ts';
import { sampleFacts } from '../../webhooks/bodies/sample-facts.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';
import { makeAwaitEvents } from './await-events.ts';
import { testUserOf } from './test-user.ts';
import type { TestInput } from './test-webhook.ts';

export interface ListenQuery {
  /** Null: a user's own, but everybody's for the operator, who is no user. */
  readonly ownerScope: OwnerScope | null;
  readonly types: readonly WebhookEventType[];
  /** Id of a journal event. Null begins with what comes from now on. */
  readonly afterId: number | null;
  /** Of events that are looked at. */
  readonly limit: number;
  /** How long to wait for the first event. */
  readonly waitMs: number;
}

export interface ListenParts {
  readonly store: Pick<Store, 'deliveries'>;
  readonly audit: Pick<Audit, 'read'>;
  readonly auditedAccess: Pick<AuditedAccess, 'session'>;
  readonly arrivals: Arrivals;
  readonly clock: Clock;
  readonly log: Log;
  /** Fires when waiting requests must end because the daemon does. */
  readonly draining: AbortSignal;
}

/** All runs, audited: their events contain titles, questions and errors of all users. */
const EVERYBODYS = { id: 'house', userId: '' };

/** Makes the verbs. */
export function makeListenOperations({ store, audit, auditedAccess, arrivals, clock, log, draining }: ListenParts) {
  const awaitEvents = makeAwaitEvents({ arrivals, clock, draining });

  return {
    /**
     * The next events of the caller, or of everybody; waits for them when there are none. Throws `forbidden` for everybody's to
     * users, `rate_limited` when too many wait, and `unavailable` when the daemon ends first.
     */
    listenToEvents: async (caller: Caller, query: ListenQuery, gone: AbortSignal): Promise<EventsPage> => {
      const owner = ownerOf(caller, query.ownerScope);
      if (owner === 0) await audit.read(caller, 'house.follow', EVERYBODYS);
      const { types, limit } = query;
      const read = async (afterId: number | null) => {
        const wanted = { owner, types, afterId, limit };
        const { faults, ...page } = await store.deliveries.readEvents(wanted, clock.now());
        for (const error of faults) log.error({ err: error }, 'an event could not be read for a listener');
        return page;
      };
      if (query.waitMs === 0) return read(query.afterId);
      return awaitEvents(owner, { ...query, read, gone });
    },

    /** A made-up event, or one of a real session, as a webhook with the id 0 would be sent it. Throws as `AuditedAccess.session`. */
    getSampleEvent: async (
      caller: Caller,
      { eventType, sessionId }: TestInput,
    ): Promise<Pick<RenderedEvent, 'eventId' | 'eventType' | 'body'>> => {
      const session = sessionId === null ? null : await auditedAccess.session(caller, sessionId);
      const now = clock.now();
      const real =
        session === null
          ? { user: testUserOf(caller, now) }
          : await store.deliveries.findTestFacts(session.seq, eventType);
      const facts = sampleFacts(eventType, real, now);
      const ownerScope = caller.kind === 'operator' ? 'system' : 'user';
      return { eventId: facts.eventId, eventType, body: renderBody(facts, { id: 0, ownerScope }) };
    },
  };
}

/** Whose events: a user's `seq`, or 0 for everybody's. */
function ownerOf(caller: Caller, ownerScope: OwnerScope | null): number {
  const scope = ownerScope ?? (caller.kind === 'operator' ? 'system' : 'user');
  if (scope === 'system') {
    if (caller.reach === 'all') return 0;
    throw new ErrandError('forbidden', 'Only administrators listen to the events of all users.');
  }
  if (caller.kind === 'operator') throw unprocessable('owner_scope', 'must be system: the operator has no events');
  return caller.user.seq;
}
