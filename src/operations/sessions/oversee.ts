// Overseeing: what administrators see and end of anybody's sessions and runs, and why runs wait.
import type { Clock } from '../../domain/clock.ts';
import { notFound } from '../../domain/errors.ts';
import type { Message } from '../../domain/content.ts';
import type { RunStatus } from '../../domain/run.ts';
import type { StopResult } from '../../domain/stop.ts';
import type { Queue, QueueLoad } from '../../execution/queue/queue.ts';
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Store } from '../../store/open-store.ts';
import type { Page, RunRecord, SessionRecord, WaitingRun } from '../../store/sessions/overview.ts';

/** `user` is a name or an id, `key` a public id; null leaves a filter out. */
export interface SessionQuery extends Page {
  readonly user: string | null;
  readonly key: string | null;
}

export interface RunQuery extends Page {
  readonly sessionId: string | null;
  readonly status: RunStatus | null;
}

/**
 * Why a run waits. `session_busy`: for an earlier run of its session. `user_input`: that one waits for its user. `stop_unconfirmed`: for the executor of a stopped
 * run of its session. `key_order`: for an earlier run of its key. `slots_full`, `background_limit`: for a worker slot.
 * `not_claiming`: the daemon has no workers or shuts down. `starting`: for nothing any more.
 */
export type WaitReason =
  | 'session_busy'
  | 'user_input'
  | 'stop_unconfirmed'
  | 'key_order'
  | 'slots_full'
  | 'background_limit'
  | 'not_claiming'
  | 'starting';

/** A waiting run: why, behind which run, and for how long. */
export interface QueueEntry extends WaitingRun {
  readonly reason: WaitReason;
  readonly behindRunId: string | null;
  readonly waitingMs: number;
}

export interface QueueReport extends QueueLoad {
  readonly items: readonly QueueEntry[];
  readonly total: number;
  /** Runs without a slot, because they wait for their users. */
  readonly waitingForUser: number;
}

export interface OverseeParts {
  readonly store: Store;
  readonly stopper: Stopper;
  readonly queue: Pick<Queue, 'load'>;
  readonly clock: Clock;
}

/** The verbs of administrators. Ids that name nothing throw `not_found`, as those of deleted sessions do. */
export function makeOversee({ store, stopper, queue, clock }: OverseeParts) {
  async function getSession(id: string): Promise<SessionRecord> {
    const found = await store.overview.findSessionRecord(id.toLowerCase());
    if (found === undefined) throw notFound('Session');
    return found;
  }

  async function getRun(id: string): Promise<RunRecord> {
    const found = await store.overview.findRunRecord(id.toLowerCase());
    if (found === undefined) throw notFound('Run');
    return found;
  }

  return {
    getAnySession: getSession,
    getAnyRun: getRun,

    listAnySessions: async ({ user, key, ...page }: SessionQuery) => {
      const [owner, bound] = await Promise.all([
        user === null ? null : store.users.get(user),
        key === null ? null : store.keys.get(key),
      ]);
      return store.overview.listSessionRecords({ userSeq: owner?.seq ?? null, keySeq: bound?.seq ?? null, ...page });
    },

    /** A session with its whole history. */
    readAnySession: async (id: string): Promise<{ session: SessionRecord; messages: Message[] }> => {
      const session = await getSession(id);
      return { session, messages: await store.sessions.listMessages(session.seq) };
    },

    stopAnySession: async (id: string): Promise<StopResult> =>
      stopper.stopSession(await getSession(id), 'operator_requested_stop'),

    /** Answers the session's id. */
    deleteAnySession: async (id: string): Promise<string> => {
      const session = await getSession(id);
      await stopper.deleteSession(session);
      return session.id;
    },

    listAnyRuns: async ({ sessionId, status, ...page }: RunQuery) => {
      const session = sessionId === null ? null : await getSession(sessionId);
      return store.overview.listRunRecords({ sessionSeq: session?.seq ?? null, status, ...page });
    },

    stopAnyRun: async (id: string): Promise<StopResult> => stopper.stopRun(await getRun(id), 'operator_requested_stop'),

    /** Waiting runs in order of acceptance, with the state of the worker slots. */
    getQueue: async (page: Page): Promise<QueueReport> => {
      const { items, total } = await store.overview.listWaiting(page);
      const { waiting: waitingForUser } = await store.runs.countUnfinished();
      const load = queue.load();
      const now = clock.steady();
      return { ...load, total, waitingForUser, items: items.map((run) => explain(run, load, now)) };
    },
  };
}

function explain(run: WaitingRun, load: QueueLoad, now: number): QueueEntry {
  const waitingMs = Math.max(0, now - run.queuedSteadyAt);
  const because = (reason: WaitReason, behindRunId: string | null = null): QueueEntry => ({
    ...run,
    reason,
    behindRunId,
    waitingMs,
  });
  if (!run.ready) {
    if (run.behindInSession === null) return because('stop_unconfirmed');
    return because(run.behindQuestion ? 'user_input' : 'session_busy', run.behindInSession);
  }
  if (!load.open) return because('not_claiming');
  if (run.behindInKey !== null) return because('key_order', run.behindInKey);
  if (load.busy >= load.slots) return because('slots_full');
  return because(run.scheduleMode === 'background' ? 'background_limit' : 'starting');
}
