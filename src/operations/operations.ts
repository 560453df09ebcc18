// Every verb of the house, behind one name: what may be asked, whoever asks.
import type { Catalog } from '../catalog/models.ts';
import type { Clock } from '../domain/clock.ts';
import { ErrandError, notFound } from '../domain/errors.ts';
import type { Run } from '../domain/run.ts';
import type { Settings } from '../domain/settings.ts';
import type { KeyCaller } from '../domain/user.ts';
import type { Tails } from '../events/tail.ts';
import { modelOf, type Queue } from '../execution/queue.ts';
import type { BlobStore } from '../files/blobs.ts';
import type { Store } from '../store/open-store.ts';
import { makeAcceptTurn } from './accept-turn.ts';
import { makeAwaitResult } from './await-result.ts';
import { makeKeyOperations } from './keys.ts';
import { getOwnSession } from './own-session.ts';
import { makeResolveCaller } from './resolve-caller.ts';
import { makeTeamOperations } from './teams.ts';
import { makeUserOperations } from './users.ts';

export interface OperationParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly tails: Tails;
  readonly queue: Pick<Queue, 'wake' | 'slotFree'>;
  readonly clock: Clock;
  settings(): Settings;
  catalog(): Catalog;
  /** Whether new turns are refused because the daemon is shutting down. */
  closing(): boolean;
  /** Fires when waiting requests must end because the daemon does. */
  readonly draining: AbortSignal;
}

/** Some rows and how many there are in all. */
export interface Listing<T> {
  readonly items: readonly T[];
  readonly total: number;
}

export type Operations = ReturnType<typeof makeOperations>;

export function makeOperations(parts: OperationParts) {
  const { store, catalog } = parts;
  return {
    ...makeUserOperations(parts),
    ...makeTeamOperations(parts),
    ...makeKeyOperations(parts),
    resolveCaller: makeResolveCaller(parts),
    acceptTurn: makeAcceptTurn({ ...parts, draining: parts.closing }),
    awaitResult: makeAwaitResult(parts),

    /** A run of this key, to follow its stream (C12). Throws `not_found`, or `forbidden` for another key's. */
    findRunToFollow: async (caller: KeyCaller, runId: string): Promise<Run> => {
      const run = await store.runs.find(runId.toLowerCase());
      if (run === undefined) throw notFound('Run');
      if (run.keySeq !== caller.key.seq) throw new ErrandError('forbidden', 'The run belongs to another API key.');
      return run;
    },

    /** The history of a session (§2.7). Throws as `getOwnSession` does. */
    listMessages: async (caller: KeyCaller, sessionId: string) => {
      const session = await getOwnSession(store, caller, sessionId);
      return { sessionId: session.id, messages: await store.sessions.listMessages(session.seq) };
    },

    /** The one model name of a key (C13). */
    modelNameOf: (caller: KeyCaller): string =>
      modelOf(catalog(), { keyModel: caller.key.model, scenario: caller.user.scenario }) ?? 'errand',
  };
}
