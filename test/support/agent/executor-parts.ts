// The parts that execute a run of a store fixture, with the test's own pool and no threads.
import { NO_EQUIPMENT } from '../../../src/agent/port/grants.ts';
import type { Catalog } from '../../../src/catalog/kinds/models.ts';
import { lookUpNow } from '../../../src/domain/capabilities/look-up.ts';
import { NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import { makeBuildBrief } from '../../../src/execution/brief/brief.ts';
import type { Reservation, WorkerPool } from '../../../src/execution/pool/worker-pool.ts';
import type { ExecutorParts } from '../../../src/execution/executor/run-state.ts';
import { makeLog } from '../../../src/log/log.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { SETTINGS } from '../http/http-fixture.ts';
import type { StoreFixture } from '../store/store-fixture.ts';

const price = {
  inputPerMillionUsd: 0,
  outputPerMillionUsd: 0,
  cacheReadPerMillionUsd: 0,
  cacheWritePerMillionUsd: 0,
};
const catalog: Catalog = {
  endpoints: new Map([
    [
      'local',
      {
        name: 'local',
        kind: 'openai',
        baseUrl: 'http://127.0.0.1:9',
        apiKey: null,
        caFile: null,
        maxInFlight: null,
        extras: NO_EXTRAS,
      },
    ],
  ]),
  models: new Map([
    [
      'scripted',
      {
        name: 'scripted',
        endpoint: 'local',
        model: 'scripted',
        contextWindow: 32_000,
        maxOutputTokens: 1_000,
        images: false,
        documents: false,
        structured: 'tool',
        thinkingTags: false,
        price,
      },
    ],
  ]),
  scenarios: new Map([['general', { name: 'general', model: 'scripted' }]]),
  defaultScenario: 'general',
};

/** A reservation that is ready, for a run that never ends. */
export const AT_ONCE: Reservation = {
  takesNoSlot: false,
  ready: Promise.resolve(),
  start: () => ({ send: () => undefined }),
  leave: () => undefined,
};

type Turns = Partial<Store['turns']>;

/** What executes a run, with a verb on turns replaced. */
export function executorParts(
  { store, clock }: StoreFixture,
  pool: Partial<WorkerPool>,
  turns: Turns = {},
): ExecutorParts {
  const kept = { ...store, turns: { ...store.turns, ...turns } };
  const workspaces = {
    owner: null,
    pathOf: () => '/nowhere',
    tidy: async () => undefined,
    placeUploads: async () => true,
  };
  return {
    store: kept,
    clock,
    log: makeLog({ level: 'fatal' }),
    budgets: { settles: () => undefined, refused: () => undefined, ended: async () => undefined },
    settings: () => SETTINGS,
    catalog: () => catalog,
    lookUp: lookUpNow,
    unusableTools: { listed: () => undefined },
    workspaces,
    buildBrief: makeBuildBrief({
      store: kept,
      workspaces,
      sandbox: () => null,
      documents: { textsOf: async () => ({}) },
      equip: async () => ({ ok: true, outfit: { instructions: '', tools: [], equipment: NO_EQUIPMENT } }),
      settings: () => SETTINGS,
    }),
    broker: { admit: () => ({ token: '', end: () => undefined }) },
    collector: {
      baselineOf: () => ({
        announces: 'first',
        stepEnded: () => undefined,
        prepare: async () => ({ kind: 'ready', hasNotes: false }),
        take: () => undefined,
        taken: async () => undefined,
        takeNow: async () => true,
        keep: async () => undefined,
        ended: async () => true,
        abort: () => undefined,
      }),
    },
    pool,
  } as unknown as ExecutorParts;
}
