// Every verb of the house, behind one name: what may be asked, whoever asks.
import type { Definitions } from '../catalog/definitions.ts';
import type { Catalog } from '../catalog/models.ts';
import type { Clock } from '../domain/clock.ts';
import { ErrandError, notFound } from '../domain/errors.ts';
import type { Run } from '../domain/run.ts';
import type { Settings } from '../domain/settings.ts';
import type { KeyCaller } from '../domain/user.ts';
import type { Tails } from '../events/tail.ts';
import { modelOf, type Queue } from '../execution/queue/queue.ts';
import type { SchemaCheck } from '../execution/checks/schema-check.ts';
import type { QueueWait } from '../execution/queue/queue-wait.ts';
import type { Stopper } from '../execution/queue/stop.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import type { Disk } from '../files/disk.ts';
import type { DeriveKey } from '../files/master-key.ts';
import type { Store } from '../store/open-store.ts';
import { makeAcceptTurn } from './turns/accept-turn.ts';
import { type ArtifactOperationParts, makeArtifactOperations } from './sessions/artifacts.ts';
import { makeAwaitResult } from './turns/await-result.ts';
import { makeBackgroundRuns } from './turns/background-run.ts';
import { type CheckOperationParts, makeCheckOperations } from './capabilities/checks.ts';
import { makeGetCapabilityConfig } from './capabilities/capability-config.ts';
import { type ConnectionParts, makeConnectionOperations } from './capabilities/connections.ts';
import { type DefinitionParts, makeDefinitionOperations } from './capabilities/definitions.ts';
import { makeDeleteSession } from './sessions/delete-session.ts';
import { makeFetchImages } from './turns/fetch-images.ts';
import { makeKeyOperations } from './people/keys.ts';
import { makeInsightOperations } from './sessions/insights.ts';
import { makeListSessions } from './sessions/list-sessions.ts';
import { makeLogIn } from './people/log-in.ts';
import { makeLoginThrottle } from './people/login-throttle.ts';
import { makeLoginTokens } from './people/login-tokens.ts';
import { makeOpenFile, type OpenFileParts } from './sessions/open-file.ts';
import { makeOversee } from './sessions/oversee.ts';
import { getOwnSession } from './sessions/own-session.ts';
import { makePollRate } from './people/poll-rate.ts';
import { makeResolveCaller } from './people/resolve-caller.ts';
import { makeResolveKey } from './people/resolve-key.ts';
import { makeAskProvider } from './people/sso.ts';
import { leadModelOf, makeSessionSetup } from './turns/session-setup.ts';
import { makeStopSession } from './sessions/stop-session.ts';
import { makeTeamOperations } from './people/teams.ts';
import { makeUserInputOperations } from './sessions/user-inputs.ts';
import { makeUserOperations } from './people/users.ts';

export interface OperationParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly disk: Disk;
  readonly fileAddresses: OpenFileParts['fileAddresses'];
  readonly emptyArchives: ArtifactOperationParts['emptyArchives'];
  readonly tails: Tails;
  readonly queue: Pick<Queue, 'wake' | 'slotFree' | 'load'>;
  readonly stopper: Stopper;
  readonly schemas: Pick<SchemaCheck, 'check'>;
  readonly queueWait: Pick<QueueWait, 'watch'>;
  readonly clock: Clock;
  readonly deriveKey: DeriveKey;
  readonly secrets: ConnectionParts['secrets'];
  readonly broker: ConnectionParts['broker'];
  readonly checks: CheckOperationParts['checks'];
  settings(): Settings;
  catalog(): Catalog;
  definitions(): Definitions;
  readonly problems: DefinitionParts['problems'];
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
  const { store } = parts;
  const makeSetup = makeSessionSetup(parts);
  const definitions = makeDefinitionOperations(parts);
  const countPoll = makePollRate({ clock: parts.clock, perSecond: () => parts.settings().background.pollsPerSecond });
  return {
    ...makeUserOperations(parts),
    ...makeTeamOperations(parts),
    ...makeKeyOperations({ ...parts, makeSetup }),
    ...definitions,
    ...makeCheckOperations(parts, definitions),
    ...makeBackgroundRuns({ store, countPoll }),
    ...makeCredentials(parts),
    ...makeOversee(parts),
    ...makeArtifactOperations(parts),
    ...makeUserInputOperations(parts),
    ...makeInsightOperations(parts),
    ...makeConnectionOperations(parts),
    listSessions: makeListSessions(parts),
    stopSession: makeStopSession(parts),
    deleteSession: makeDeleteSession(parts),
    getCapabilityConfig: makeGetCapabilityConfig(parts),
    acceptTurn: makeAcceptTurn({
      ...parts,
      makeSetup,
      draining: parts.closing,
      fetchImages: makeFetchImages({ ...parts, ending: parts.draining }),
    }),
    awaitResult: makeAwaitResult(parts),
    openFile: makeOpenFile(parts),

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
    modelNameOf: ({ key, user }: KeyCaller): string => {
      const sources = { catalog: parts.catalog(), definitions: parts.definitions() };
      const { model: keyModel, target } = key;
      const leadModel = leadModelOf(target, sources.definitions);
      return modelOf(sources, { keyModel, scenario: user.scenario, target, leadModel }) ?? 'errand';
    },
  };
}

/** The verbs on who is asking: keys and login tokens share one resolver. */
function makeCredentials(parts: OperationParts) {
  const resolveKey = makeResolveKey(parts);
  const { issueToken, resolveToken, ...signingKeys } = makeLoginTokens(parts);
  const [throttle, askProvider] = [makeLoginThrottle(parts.clock), makeAskProvider()];
  return {
    ...signingKeys,
    resolveCaller: makeResolveCaller({ resolveKey, resolveToken }),
    logIn: makeLogIn({ ...parts, throttle, resolveKey, askProvider, issueToken }),
  };
}
