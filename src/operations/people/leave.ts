// A user leaves: what they have, and how it is settled, a bounded part of it at a time.
import type { Happened } from '../../events/wakes.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { Holding, SettledKind } from '../../domain/people/holding.ts';
import { HOLDING_KINDS } from '../../domain/people/holding.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Store } from '../../store/open-store.ts';
import type { HeldThing } from '../../store/people/holdings.ts';
import type { UserRecord } from '../../store/people/users.ts';
import { type Audit, itself, unlessDeleted } from '../audit/audit.ts';

/** A user, and what is left of what they have. */
export interface Leaving extends UserRecord {
  readonly holdings: readonly Holding[];
}

/** `heir`: who gets tasks and pages, a name or an id; null for nobody. `deletes`: what nobody gets is deleted, sessions too. */
export interface LeaveRequest {
  readonly heir: string | null;
  readonly deletes: boolean;
}

/** `settled`: how many things were, this time. `isDone`: nothing is left to settle. */
export interface LeaveProgress extends Leaving {
  readonly settled: number;
  readonly isDone: boolean;
}

export interface LeaveParts {
  readonly store: Pick<Store, 'users' | 'keys' | 'connections' | 'webhooks' | 'schedules' | 'pages' | 'holdings'>;
  readonly audit: Pick<Audit, 'change' | 'read'>;
  readonly stopper: Pick<Stopper, 'stopDisabled' | 'deleteSession'>;
  readonly happened: Happened;
}

/** Things that are settled in one call. */
const AT_ONCE = 100;

/** The verbs. Each throws `not_found` for an unknown user. */
export function makeLeaveOperations(parts: LeaveParts) {
  const { store, audit, stopper } = parts;
  const inTurn = makeTurns();

  /** The caller would lose what they act with, and an heir must be able to use what they get. */
  async function heirOf(
    caller: Administrator,
    user: UserRecord,
    { heir, deletes }: LeaveRequest,
  ): Promise<UserRecord | null> {
    if (caller.kind !== 'operator' && caller.user.id === user.id)
      throw new ErrandError('conflict', 'You are this user. Another administrator can do this.');
    if (heir === null && !deletes)
      throw new ErrandError('bad_request', 'Say who gets what the user has, or delete it.');
    const found = heir === null ? null : await store.users.get(heir);
    if (found?.id === user.id) throw new ErrandError('conflict', 'The user who leaves can keep nothing.');
    if (found?.disabled === true) throw new ErrandError('conflict', `${found.username} is disabled.`);
    return found;
  }

  /** First, so that nothing new begins and nothing of theirs stays public. */
  async function shutOut(caller: Administrator, user: UserRecord): Promise<void> {
    if (!user.disabled || user.teamId !== null) {
      const note = audit.change(caller, 'user.leave', itself);
      await store.users.change(user.id, { disabled: true, teamId: null }, note);
    }
    await stopper.stopDisabled();
  }

  async function settleSome(caller: Administrator, user: UserRecord, request: LeaveRequest): Promise<LeaveProgress> {
    const heir = await heirOf(caller, user, request);
    await shutOut(caller, user);
    const settle = makeSettlers(parts, { caller, user, heir });
    const kinds = HOLDING_KINDS.filter((kind) => kind !== 'unfinished_run').filter(
      (kind) => kind !== 'session' || request.deletes,
    );
    let left = AT_ONCE;
    for (const kind of kinds) {
      const things = left === 0 ? [] : await store.holdings.list(kind, user.seq, left);
      for (const thing of things) await unlessGone(settle[kind](thing));
      left -= things.length;
    }
    const holdings = await store.holdings.count(user.seq);
    return {
      ...(await store.users.get(user.id)),
      holdings,
      settled: AT_ONCE - left,
      isDone: holdings.every(({ kind, count }) => count === 0 || !(kinds as readonly string[]).includes(kind)),
    };
  }

  return {
    /** Throws `not_found` for an unknown user. */
    getHoldings: async (caller: Administrator, reference: string): Promise<Leaving> => {
      const user = await store.users.get(reference);
      await audit.read(caller, 'user.read', { id: user.id, userId: user.id });
      return { ...user, holdings: await store.holdings.count(user.seq) };
    },

    /**
     * Disables the user and settles some of what they have; to be called until it is done. Throws `conflict` for the caller
     * themselves, the last administrator, and an heir who can't have it.
     */
    leaveUser: async (caller: Administrator, reference: string, request: LeaveRequest): Promise<LeaveProgress> => {
      const user = await store.users.get(reference);
      return inTurn(user, async () => settleSome(caller, await store.users.get(user.id), request));
    },
  };
}

/** One request for a user after another. Those of other daemons come at any time. */
function makeTurns() {
  const last = new Map<number, Promise<unknown>>();
  return async <T>({ seq }: UserRecord, work: () => Promise<T>): Promise<T> => {
    const done = (last.get(seq) ?? Promise.resolve()).then(work);
    const ended = done.catch(() => undefined);
    last.set(seq, ended);
    try {
      return await done;
    } finally {
      if (last.get(seq) === ended) last.delete(seq);
    }
  };
}

/** Someone else may remove a thing meanwhile. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof ErrandError) || error.reason !== 'not_found') throw error;
  }
}

type Settlers = Readonly<Record<SettledKind, (thing: HeldThing) => Promise<unknown>>>;

interface Settling {
  readonly caller: Administrator;
  readonly user: UserRecord;
  readonly heir: UserRecord | null;
}

/**
 * Access ends in any case: keys, credentials of services, and addresses that the user chose are nobody else's. What one request has listed,
 * another one may have given to an heir, who must not lose it again: tasks and pages are settled while they are still the user's.
 */
function makeSettlers(parts: LeaveParts, { caller, user, heir }: Settling): Settlers {
  const { store, audit, stopper, happened } = parts;
  const owner = user.seq;
  return {
    key: ({ id }) => store.keys.revoke(id, audit.change(caller, 'key.revoke', itself)),
    connection: ({ id }) => store.connections.revoke(id, audit.change(caller, 'connection.revoke', itself)),
    webhook: async ({ seq }) => {
      await store.webhooks.delete(
        seq,
        audit.change(caller, 'webhook.delete', () => ({ id: String(seq) })),
      );
      happened('webhook changed');
    },
    scheduled_task: ({ id }) =>
      heir === null
        ? store.schedules.remove(id, audit.change(caller, 'scheduled_task.delete', itself), owner)
        : store.schedules.handOver(
            id,
            { from: owner, to: heir.seq },
            audit.change(caller, 'scheduled_task.change', itself),
          ),
    page: async ({ seq, id }) => {
      const target = () => ({ id });
      if (heir === null) {
        await store.pages.delete(seq, audit.change(caller, 'page.delete', target), owner);
        happened('share changed');
        return;
      }
      const owners = { from: owner, to: heir.seq };
      while (await store.pages.handOverVersions(seq, owners));
      await store.pages.handOver(seq, owners, audit.change(caller, 'page.change', target));
    },
    session: ({ seq, id }) =>
      stopper.deleteSession({ seq, id }, audit.change(caller, 'session.delete', unlessDeleted({ id }))),
  };
}
