// Stopping runs: the move is committed first, then the executor is asked and has five seconds to confirm (§3.3, E8).
import { type Clock, within } from '../../domain/clock.ts';
import { ErrandError, notFound } from '../../domain/errors.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Session } from '../../domain/sessions/session.ts';
import { STOP_WINDOW_MS, type StopCause, type StopResult, type StopState } from '../../domain/sessions/stop.ts';
import type { Log } from '../../log/log.ts';
import { retryEachSecond } from '../../services/retry.ts';
import type { Store } from '../../store/open-store.ts';
import type { Note } from '../../store/audit/record-entry.ts';
import type { DeleteCommit } from '../../store/lifecycle/delete-session.ts';
import type { StopCommit } from '../../store/lifecycle/stop-runs.ts';
import type { Queue } from './queue.ts';
import type { StopTarget } from './in-progress.ts';

export interface StopParts {
  readonly store: Pick<Store, 'runs' | 'sessions'>;
  readonly queue: Pick<Queue, 'stop' | 'has' | 'settled'>;
  /** This node. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the executor of a stopped session has ended and that is committed: no event reports it. */
  stopConfirmed(sessionSeq: number): void;
  /** Calls the listener with each session of which that is so, here or at another node. */
  onStopConfirmed(listener: (sessionSeq: number) => void): void;
}

export interface Stopper {
  /** Stops every unfinished run of a session. Throws `not_found` when it was deleted meanwhile. */
  stopSession(session: StoppedSession, cause: StopCause, note?: StopNote): Promise<StopResult>;
  /** Stops one run; the session's next run continues. Throws `not_found` when the session was deleted meanwhile. */
  stopRun(run: Pick<Run, 'seq' | 'sessionSeq' | 'sessionId'>, cause: StopCause, note?: StopNote): Promise<StopResult>;
  /** Stops every unfinished run of disabled users, without waiting for the executors. */
  stopDisabled(): Promise<void>;
  /** Deletes a session and stops its runs, without waiting for the executor. Throws `not_found` for a deleted one. */
  deleteSession(session: StoppedSession, note?: DeleteNote): Promise<void>;
  /** The same with a session of one run. Throws `conflict` when it has others. */
  deleteSessionOfRun(run: Pick<Run, 'seq' | 'sessionSeq'>, note?: DeleteNote): Promise<void>;
  /** A run was stopped, perhaps through another node: its executor is asked if it is here. */
  noticeStopped(target: StopTarget): Promise<void>;
}

/** For the audit log, in the commit of the stop. */
export type StopNote = Note<StopCommit>;
export type DeleteNote = Note<DeleteCommit>;

type StoppedSession = Pick<Session, 'seq' | 'id'>;
type Stopped = Exclude<StopCommit, { kind: 'gone' }>;

/** Sessions of disabled users that are stopped in one commit. */
const STOPS_AT_ONCE = 50;

export function makeStopper(parts: StopParts): Stopper {
  const { store, clock } = parts;
  const cancellations = makeCancellations(parts);

  /** Asks the executor, unless it was asked just now, and reports the state of the stop. */
  async function finish(target: StopTarget, sessionId: string, commit: Stopped): Promise<StopResult> {
    const known = { sessionId, status: commit.status, cause: commit.cause };
    const ended = { cancelledRuns: commit.canceled, expiredQuestions: commit.expiredQuestions };
    const end = (stopState: StopState, executorCancelled = false) => ({
      ...known,
      ...ended,
      stopState,
      executorCancelled,
    });
    if (commit.kind === 'confirmed') return end('already_stopped');
    if (commit.kind === 'idle') return end('not_running');
    if (!commit.unconfirmed) return end('stopped');
    if (commit.kind === 'unconfirmed' && cancellations.isRecent(target.sessionSeq)) return end('stopping');
    const confirmed = cancellations.begin(target, commit.node).then(() => true);
    return (await within(clock, STOP_WINDOW_MS, confirmed, false)) ? end('stopped', true) : end('stopping');
  }

  async function stopUnwatched({ seq }: StoppedSession): Promise<void> {
    const commit = await store.runs.stopSession(seq, 'operator_requested_stop');
    // Deleted meanwhile, or ended.
    if (commit.kind !== 'gone' && commit.kind !== 'idle') endExecutor(seq, commit);
  }

  function endExecutor(sessionSeq: number, { unconfirmed, node }: Stopped): void {
    if (unconfirmed) void cancellations.begin({ sessionSeq, runSeq: null }, node);
  }

  return {
    stopSession: async ({ seq, id }, cause, note) => {
      const commit = await store.runs.stopSession(seq, cause, note);
      return finish({ sessionSeq: seq, runSeq: null }, id, present(commit));
    },
    stopRun: async ({ seq, sessionSeq, sessionId }, cause, note) => {
      const commit = present(await store.runs.stopRun({ sessionSeq, runSeq: seq }, cause, note));
      // An earlier stop of the session says nothing about a run that ended in another way.
      if (commit.kind !== 'ended') return finish({ sessionSeq, runSeq: seq }, sessionId, { ...commit, kind: 'idle' });
      return finish({ sessionSeq, runSeq: seq }, sessionId, commit);
    },
    stopDisabled: async () => {
      let after = 0;
      for (;;) {
        const sessions = await store.runs.listSessionsOfDisabled(after, STOPS_AT_ONCE);
        await Promise.all(sessions.map(stopUnwatched));
        if (sessions.length < STOPS_AT_ONCE) return;
        after = sessions.at(-1)!.seq;
      }
    },
    deleteSession: async ({ seq }, note) => {
      endExecutor(seq, present(await store.sessions.deleteSession(seq, note)));
    },
    deleteSessionOfRun: async (run, note) => {
      endExecutor(run.sessionSeq, present(await store.sessions.deleteSessionOfRun(run, note)));
    },
    noticeStopped: async (target) => {
      if (await isHere(parts, target)) await cancellations.begin(target, parts.node);
    },
  };
}

/** Whether the executor of a stopped run is here, or was until a write of it was refused. */
async function isHere({ store, queue, node, clock, log }: StopParts, { sessionSeq }: StopTarget): Promise<boolean> {
  // The stop may be known here before the claim that it came after.
  await queue.settled();
  if (queue.has(sessionSeq)) return true;
  const look = () => store.runs.isStoppingAt(sessionSeq, node);
  return retryEachSecond(clock, look, (error) =>
    log.error({ err: error }, 'a stop through another node could not be looked at yet'),
  );
}

function present(commit: DeleteCommit): Stopped {
  if (commit.kind === 'gone') throw notFound('Session');
  if (commit.kind === 'shared') throw new ErrandError('conflict', 'The session has other runs.');
  return commit;
}

/** The attempts to end executors. This state is lost with the process, and so are the executors. */
function makeCancellations({ store, queue, node, clock, log, stopConfirmed, onStopConfirmed }: StopParts) {
  /** Monotonic times at which the last attempt of each session began. */
  const begunAt = new Map<number, number>();
  const elsewhere = makeElsewhere(clock, onStopConfirmed);

  /** The session's next run and its clean-up wait for this record. */
  const confirm = (sessionSeq: number) =>
    retryEachSecond(
      clock,
      () => store.runs.confirmStop(sessionSeq),
      (error) => log.error({ err: error }, 'the end of a stopped run could not be recorded yet'),
    );

  return {
    /** Within the time that an executor has, or as long after that. */
    isRecent: (sessionSeq: number): boolean => {
      const at = begunAt.get(sessionSeq);
      return at !== undefined && clock.monotonic() - at <= 2 * STOP_WINDOW_MS;
    },

    /**
     * Asks the executor to stop. Resolves when it has ended and that is recorded, however long it takes; never rejects. One at another
     * node (`of`) learns of it by the event.
     */
    begin: async (target: StopTarget, of: string | null): Promise<void> => {
      const at = clock.monotonic();
      begunAt.set(target.sessionSeq, at);
      const isElsewhere = of !== null && of !== node;
      if (isElsewhere) await elsewhere.confirmed(target.sessionSeq);
      else {
        await queue.stop(target);
        await confirm(target.sessionSeq);
      }
      if (begunAt.get(target.sessionSeq) === at) begunAt.delete(target.sessionSeq);
      if (!isElsewhere) stopConfirmed(target.sessionSeq);
    },
  };
}

/** Waits for executors of other nodes. */
function makeElsewhere(clock: Clock, onStopConfirmed: StopParts['onStopConfirmed']) {
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  onStopConfirmed((sessionSeq) => waiting.get(sessionSeq)?.resolve());
  return {
    /** Resolves when its node has told that the executor has ended; or late, when whoever asked has its answer. */
    confirmed: async (sessionSeq: number): Promise<void> => {
      const told = waiting.get(sessionSeq) ?? Promise.withResolvers<void>();
      waiting.set(sessionSeq, told);
      await within(clock, 2 * STOP_WINDOW_MS, told.promise, undefined);
      if (waiting.get(sessionSeq) === told) waiting.delete(sessionSeq);
    },
  };
}
