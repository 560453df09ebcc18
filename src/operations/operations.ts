// Every verb of the house, behind one name: what may be asked, whoever asks.
import type { Definitions } from '../catalog/definitions.ts';
import type { Catalog } from '../catalog/models.ts';
import type { Clock } from '../domain/clock.ts';
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
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';
import { makeAccess } from './access.ts';
import { makeNoteReader } from './note-reader.ts';
import { makeAcceptTurn } from './turns/accept-turn.ts';
import { type ArtifactOperationParts, makeArtifactOperations } from './sessions/artifacts.ts';
import { makeAwaitResult } from './turns/await-result.ts';
import { type CheckOperationParts, makeCheckOperations } from './capabilities/checks.ts';
import { type ConnectionParts, makeConnectionOperations } from './capabilities/connections.ts';
import { type DefinitionParts, makeDefinitionOperations } from './capabilities/definitions.ts';
import { makeFetchImages } from './turns/fetch-images.ts';
import { makeKeyOperations } from './people/keys.ts';
import { makeInsightOperations } from './sessions/insights.ts';
import { makeLogIn } from './people/log-in.ts';
import { makeLoginThrottle } from './people/login-throttle.ts';
import { makeLoginTokens } from './people/login-tokens.ts';
import { makeOpenFile, type OpenFileParts } from './sessions/open-file.ts';
import { makePollRate } from './people/poll-rate.ts';
import { makeAuthenticate } from './people/authenticate.ts';
import { makeResolveKey } from './people/resolve-key.ts';
import { makeAskProvider } from './people/sso.ts';
import { leadModelOf, makeSessionSetup } from './turns/session-setup.ts';
import { makeSessionOperations } from './sessions/sessions.ts';
import { makeGetQueue } from './turns/queue.ts';
import { makeRunOperations } from './turns/runs.ts';
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
  readonly log: Log;
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

export type Operations = ReturnType<typeof makeOperations>;

export function makeOperations(parts: OperationParts) {
  const { store, stopper, clock, queue } = parts;
  const access = makeAccess(store);
  const noteReader = makeNoteReader(parts.log);
  const reading = { store, access, noteReader };
  const makeSetup = makeSessionSetup(parts);
  const definitions = makeDefinitionOperations(parts);
  const countPoll = makePollRate({ clock, perSecond: () => parts.settings().background.pollsPerSecond });
  return {
    ...makeUserOperations(parts),
    ...makeTeamOperations(parts),
    ...makeKeyOperations({ ...parts, makeSetup }),
    ...definitions,
    ...makeCheckOperations(parts, definitions),
    ...makeConnectionOperations(parts),
    ...makeCredentials(parts),
    ...makeSessionOperations({ ...reading, stopper }),
    ...makeRunOperations({ ...reading, stopper, countPoll }),
    ...makeArtifactOperations({ ...reading, fileAddresses: parts.fileAddresses, emptyArchives: parts.emptyArchives }),
    ...makeUserInputOperations({ ...reading, queue }),
    ...makeInsightOperations({ store, access }),
    getQueue: makeGetQueue({ store, queue, clock }),
    acceptTurn: makeAcceptTurn({
      ...parts,
      access,
      makeSetup,
      draining: parts.closing,
      fetchImages: makeFetchImages({ ...parts, ending: parts.draining }),
    }),
    awaitResult: makeAwaitResult(parts),
    openFile: makeOpenFile(parts),

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
    authenticate: makeAuthenticate({ resolveKey, resolveToken }),
    logIn: makeLogIn({ ...parts, throttle, resolveKey, askProvider, issueToken }),
  };
}
