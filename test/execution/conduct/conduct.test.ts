// How one run is carried to its worker, beside everything else that the main thread does.
import { expect, onTestFinished, test } from 'vitest';
import { NO_EQUIPMENT } from '../../../src/agent/port/grants.ts';
import type { Brief } from '../../../src/agent/port/protocol.ts';
import type { Catalog } from '../../../src/catalog/models.ts';
import { NO_EXTRAS } from '../../../src/domain/model.ts';
import { conductRun } from '../../../src/execution/conduct/conduct.ts';
import type { PoolSink } from '../../../src/execution/conduct/pool.ts';
import type { ConductParts } from '../../../src/execution/conduct/run-state.ts';
import { makeLog } from '../../../src/log/log.ts';
import { SETTINGS } from '../../support/http-house.ts';
import { storeHouse } from '../../support/store-house.ts';

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
        price,
      },
    ],
  ]),
  scenarios: new Map(),
  defaultScenario: 'general',
};

/** Counts turns of the event loop from now on. */
function countTurns(): () => number {
  let turns = 0;
  const tick = () => {
    turns += 1;
    next = setImmediate(tick);
  };
  let next = setImmediate(tick);
  onTestFinished(() => clearImmediate(next));
  return () => turns;
}

test('the claim of a run, the reading of its text and the start of its worker have a turn of the event loop each', async () => {
  const { store, accept, claim, clock } = await storeHouse();
  await accept();
  const [run] = await claim();
  const turn = countTurns();
  const at: Record<string, number> = {};
  const parts = {
    store: {
      ...store,
      turns: { ...store.turns, get: (...of: [number, number]) => ((at['read'] = turn()), store.turns.get(...of)) },
    },
    clock,
    log: makeLog({ level: 'fatal' }),
    settings: () => SETTINGS,
    catalog: () => catalog,
    sandbox: () => null,
    workspaces: { owner: null, pathOf: () => '/nowhere' },
    documents: { textsOf: async () => ({}) },
    equip: async () => ({ ok: true, outfit: { instructions: '', tools: [], equipment: NO_EQUIPMENT } }),
    broker: { admit: () => ({ token: '', end: () => undefined }) },
    collector: {
      attend: () => ({
        free: async () => undefined,
        takeBaseline: () => undefined,
        baseline: async () => undefined,
        isUntouched: async () => true,
        abort: () => undefined,
      }),
    },
    pool: {
      start: (_: Brief, sink: PoolSink) => {
        at['start'] = turn();
        sink.ended({
          kind: 'done',
          outcome: { status: 'completed', text: '', stopReason: 'end_turn' },
          touched: false,
        });
        return { send: () => undefined };
      },
    },
  } as unknown as ConductParts;
  const choice = { keyModel: null, scenario: null, target: 'free', leadModel: null };
  at['claim'] = turn();
  await conductRun(parts, { run: run!, choice }).ended;
  expect((await store.runs.get(run!.seq))?.status).toBe('completed');
  expect(at['read']).toBeGreaterThan(at['claim']);
  expect(at['start']).toBeGreaterThan(at['read']!);
});
