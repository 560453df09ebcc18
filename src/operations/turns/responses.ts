// Runs as Responses (M3): what the Responses protocol may ask of a run that it began.
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Portions } from '../../domain/portions.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Stopper } from '../../execution/queue/stop.ts';
import type { Store } from '../../store/open-store.ts';
import type { Access } from '../access.ts';
import { type Audit, unlessDeleted } from '../audit/audit.ts';
import { type HistoryMessage, messagesIn } from '../sessions/history.ts';
import { stopCauseOf } from '../sessions/sessions.ts';

export interface ResponseOperationParts {
  readonly store: Pick<Store, 'history'>;
  readonly access: Pick<Access, 'response'>;
  readonly stopper: Pick<Stopper, 'stopRun' | 'deleteSessionOfRun'>;
  readonly audit: Pick<Audit, 'change'>;
  /** Throws `rate_limited`. */
  countPoll(keySeq: number): void;
}

/** The verbs. Each takes the id of the run, and throws as `Access.response` does. */
export function makeResponseOperations({ store, access, stopper, audit, countPoll }: ResponseOperationParts) {
  return {
    /** The run as it is now. Throws `rate_limited`. */
    getResponse: async (caller: KeyCaller, id: string): Promise<Run> => {
      countPoll(caller.key.seq);
      return access.response(caller, id);
    },

    /** A run whose stream will be followed. */
    followResponse: async (caller: KeyCaller, id: string): Promise<Run> => access.response(caller, id),

    /** Stops the run, and returns it as it is then: one that has ended stays as it is. */
    cancelResponse: async (caller: KeyCaller, id: string): Promise<Run> => {
      const run = await access.response(caller, id);
      await stopper.stopRun(run, stopCauseOf(caller), audit.change(caller, 'run.stop', unlessDeleted(run)));
      return access.response(caller, id);
    },

    /** Deletes the run with its session. Returns its id. Throws `conflict` when the session has other runs. */
    deleteResponse: async (caller: KeyCaller, id: string): Promise<string> => {
      const run = await access.response(caller, id);
      const session = { id: run.sessionId, sessionId: run.sessionId };
      await stopper.deleteSessionOfRun(run, audit.change(caller, 'session.delete', unlessDeleted(session)));
      return run.id;
    },

    /** What its user said. */
    listResponseInput: async (
      caller: KeyCaller,
      id: string,
    ): Promise<{ readonly runId: string; readonly messages: Portions<HistoryMessage> }> => {
      const run = await access.response(caller, id);
      return { runId: run.id, messages: inputOf(store.history, run) };
    },
  };
}

async function* inputOf(history: Store['history'], { seq, sessionSeq }: Run): Portions<HistoryMessage> {
  const size = await history.findUserMessage(seq);
  if (size !== undefined) yield* messagesIn(history, sessionSeq, [size]);
}
