// Runs as tasks that other agents hand over: looked at while they are waited for.
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Store } from '../../store/open-store.ts';
import type { Access } from '../access.ts';

/** A run, and the id of an event before which it was not newer than this. */
export interface LookedAt {
  readonly run: Run;
  readonly newestId: number;
}

export interface TaskOperationParts {
  readonly store: { readonly events: Pick<Store['events'], 'newestId'> };
  readonly access: Pick<Access, 'run'>;
  /** Throws `rate_limited`. */
  countPoll(keySeq: number): void;
}

/** The verbs. They throw as `Access.run` does. */
export function makeTaskOperations({ store, access, countPoll }: TaskOperationParts) {
  /** Who follows its events after that one misses nothing of what the run has not done yet. */
  async function lookAtTask(caller: KeyCaller, id: string): Promise<LookedAt> {
    const { sessionSeq } = await access.run(caller, id);
    const newestId = (await store.events.newestId(sessionSeq)) ?? 0;
    return { run: await access.run(caller, id), newestId };
  }

  return {
    lookAtTask,
    /** The same for whoever may ask again and again. Throws `rate_limited`. */
    pollTask: async (caller: KeyCaller, id: string): Promise<LookedAt> => {
      countPoll(caller.key.seq);
      return lookAtTask(caller, id);
    },
  };
}
