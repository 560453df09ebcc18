// What a caller reaches: the one rule of ownership, and the only source of `not_found` and `forbidden` for sessions and
// runs.
import { ErrandError, notFound } from '../domain/errors.ts';
import type { Insight } from '../domain/sessions/insight.ts';
import type { UserInput } from '../domain/sessions/user-input.ts';
import type { Caller } from '../domain/people/user.ts';
import type { Store } from '../store/open-store.ts';
import type { OwnedPage } from '../store/publishing/pages.ts';
import type { OwnedShare } from '../store/publishing/shares.ts';
import type { DeliveryRecord } from '../store/webhooks/delivery-records.ts';
import type { TaskRecord } from '../store/firings/task-rows.ts';
import type { WebhookRecord } from '../store/webhooks/webhooks.ts';
import type { RunRecord } from '../store/runs/run-records.ts';
import type { SessionRecord } from '../store/sessions/session-records.ts';

/** The owner of a thing. `keySeq` is null for a session that no key opened. */
interface Owner {
  /** Null: it is system-wide. */
  readonly userSeq: number | null;
  readonly keySeq: number | null;
}

/**
 * A key reaches the sessions that it opened and what belongs to them, not those of another key of the same user (§1 rule 7,
 * §5 rule 3, E6); a person reaches what is theirs, an administrator everything. Throws `forbidden` for anything else.
 */
function requireReach(caller: Caller, { userSeq, keySeq }: Owner, what: string): void {
  if (caller.reach === 'all') return;
  const refused = (whose: string) => new ErrandError('forbidden', `The ${what.toLowerCase()} belongs to ${whose}.`);
  if (userSeq === null) throw refused('the administrators');
  if (userSeq !== caller.user.seq) throw refused('another user');
  if (caller.reach === 'key' && keySeq !== caller.key.seq) throw refused('another API key');
}

/** The thing, if it exists and the caller reaches it. A key reaches nothing that was opened without a key (I6). */
function reached<T extends Owner>(caller: Caller, found: T | undefined, what: string): T {
  if (found === undefined || (caller.reach === 'key' && found.keySeq === null)) throw notFound(what);
  requireReach(caller, found, what);
  return found;
}

/** The thing of a user, or a system-wide one, if it exists and the caller reaches it. */
function ofOwner<T extends { readonly userSeq: number | null }>(caller: Caller, found: T | undefined, what: string): T {
  if (found === undefined) throw notFound(what);
  requireReach(caller, { userSeq: found.userSeq, keySeq: null }, what);
  return found;
}

/** The filters that narrow a list to what the caller reaches; null means no filter. */
export function scopeOf(caller: Caller): { readonly userSeq: number | null; readonly keySeq: number | null } {
  return {
    userSeq: caller.reach === 'all' ? null : caller.user.seq,
    keySeq: caller.reach === 'key' ? caller.key.seq : null,
  };
}

export type Access = ReturnType<typeof makeAccess>;

/**
 * The look-ups by id. Each throws `not_found` for an unknown id, and for what belongs to a deleted session or page; `forbidden` for
 * what exists but is outside the caller's reach.
 */
export function makeAccess(
  store: Pick<
    Store,
    'sessions' | 'runs' | 'userInputs' | 'insights' | 'schedules' | 'webhooks' | 'deliveries' | 'pages' | 'shares'
  >,
) {
  const findSession = (id: string) => store.sessions.find(id.toLowerCase());
  const findRun = (id: string) => store.runs.find(id.toLowerCase());

  /** Questions and insights belong to the owner of their session. */
  async function reachedInSession<T extends { readonly sessionId: string }>(
    caller: Caller,
    found: T | undefined,
    what: string,
  ): Promise<T> {
    const session = found === undefined ? undefined : await findSession(found.sessionId);
    reached(caller, session, what);
    if (found === undefined) throw notFound(what);
    return found;
  }

  return {
    session: async (caller: Caller, id: string): Promise<SessionRecord> =>
      reached(caller, await findSession(id), 'Session'),

    run: async (caller: Caller, id: string): Promise<RunRecord> => reached(caller, await findRun(id), 'Run'),

    /** A run of the Responses protocol (M3). */
    response: async (caller: Caller, id: string): Promise<RunRecord> => {
      const run = await findRun(id);
      return reached(caller, run?.protocol === 'responses' ? run : undefined, 'Response');
    },

    /** Throws `not_found` for other runs. */
    backgroundRun: async (caller: Caller, id: string): Promise<RunRecord> => {
      const run = await findRun(id);
      return reached(
        caller,
        run?.scheduleMode === 'background' && run.protocol === 'messages' ? run : undefined,
        'Background run',
      );
    },

    scheduledTask: async (caller: Caller, id: string): Promise<TaskRecord> =>
      ofOwner(caller, await store.schedules.find(id.toLowerCase()), 'Scheduled task'),

    /** System-wide ones belong to the administrators. */
    webhook: async (caller: Caller, id: number): Promise<WebhookRecord> =>
      ofOwner(caller, await store.webhooks.find(id), 'Webhook'),

    delivery: async (caller: Caller, id: number): Promise<DeliveryRecord> =>
      ofOwner(caller, await store.deliveries.find(id), 'Delivery'),

    page: async (caller: Caller, key: string): Promise<OwnedPage> =>
      ofOwner(caller, await store.pages.findOwned(key), 'Page'),

    share: async (caller: Caller, code: string): Promise<OwnedShare> =>
      ofOwner(caller, await store.shares.findOwned(code), 'Share'),

    question: async (caller: Caller, id: string): Promise<UserInput> =>
      reachedInSession(caller, await store.userInputs.find(id.toLowerCase()), 'Question'),

    insight: async (caller: Caller, id: string): Promise<Insight> =>
      reachedInSession(caller, await store.insights.find(id.toLowerCase()), 'Insight'),
  };
}
