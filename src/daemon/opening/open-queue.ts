// The queue, with everything that executes a claimed run.
import type { SandboxGrant } from '../../agent/port/grants.ts';
import type { Config } from '../../config/config.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import type { Collector } from '../../execution/artifacts/collector.ts';
import type { Happened } from '../../events/wakes.ts';
import type { BrowserPart } from '../../execution/brief/browser-part.ts';
import type { AnsweredEndpoints } from '../../execution/brief/answered-endpoints.ts';
import type { DocumentReader } from '../../execution/brief/document-reader.ts';
import { makeDocumentTurns } from '../../execution/brief/document-turns.ts';
import { makeBuildBrief } from '../../execution/brief/brief.ts';
import { makeEquip } from '../../execution/brief/equip.ts';
import { makeDocuments } from '../../execution/brief/read-documents.ts';
import type { Broker } from '../../execution/broker/broker.ts';
import { logBudgetWarnings, makeBudgetGate } from '../../execution/executor/budget-gate.ts';
import { executeRun } from '../../execution/executor/executor.ts';
import type { WorkerPool } from '../../execution/pool/worker-pool.ts';
import type { ExecutorParts } from '../../execution/executor/run-state.ts';
import type { Permits } from '../../execution/pool/permits.ts';
import type { WorkerNodes } from '../../execution/queue/node.ts';
import { makeQueue, modelOf, type Queue } from '../../execution/queue/queue.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Workspaces } from '../../files/workspaces.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import { makeRunServices } from '../services/run-services.ts';
import { daemonClock as clock } from '../daemon-clock.ts';

export interface OpenQueueParts {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly log: Log;
  readonly store: Store;
  readonly blobs: BlobStore;
  /** What commands of runs are granted; null without a sandbox. */
  readonly sandbox: () => SandboxGrant | null;
  readonly pool: WorkerPool;
  readonly permits: Permits;
  readonly workspaces: Workspaces;
  readonly collector: Collector;
  readonly broker: Broker;
  readonly browser: BrowserPart;
  readonly documentReader: DocumentReader;
  readonly unusableTools: ExecutorParts['unusableTools'];
  readonly endpoints: AnsweredEndpoints;
  readonly happened: Happened;
  readonly modelCalled: ExecutorParts['modelCalled'];
  readonly node: Pick<WorkerNodes, 'id' | 'mayStart' | 'others'>;
}

/** Makes the queue. It claims nothing before it is started. */
export function openQueue(parts: OpenQueueParts): Queue {
  const { config, live, log, store, blobs, sandbox, pool, permits } = parts;
  const { workspaces, collector, broker, browser, documentReader, endpoints } = parts;
  const { settings, catalog, definitions, lookUp } = live;
  const budgets = makeBudgetGate({ store, catalog, clock, log });
  logBudgetWarnings(store, log);
  const documentTurns = makeDocumentTurns(documentReader, clock);
  const executor: ExecutorParts = {
    store,
    pool,
    permits,
    unusableTools: parts.unusableTools,
    collector,
    workspaces,
    broker,
    budgets,
    services: makeRunServices({ store, blobs, broker, documentTurns, budgets, endpoints, catalog }),
    buildBrief: makeBuildBrief({
      store,
      workspaces,
      sandbox,
      documents: makeDocuments({ store, blobs, turns: documentTurns, log, clock }),
      equip: makeEquip({
        store,
        log,
        locations: config.locations,
        definitions,
        catalog,
        lookUp,
        browser: browser.grant,
      }),
      settings,
    }),
    settings,
    catalog,
    lookUp,
    clock,
    log,
    textDiscarded: () => parts.happened('text discarded'),
    endpointAnswered: endpoints.answered,
    modelCalled: parts.modelCalled,
  };
  const queue = makeQueue({
    store,
    pool,
    execute: (claim, slotFreed) => executeRun(executor, claim, slotFreed),
    modelFor: (choice) => modelOf({ catalog: catalog(), definitions: definitions() }, choice),
    settings,
    node: parts.node,
    clock,
    log,
  });
  // There may be more slots now. The pool, which was made before, has its new size by then.
  live.onChange(queue.wake);
  return queue;
}
