// What the tools of runs can request from the main thread, each request served by the responsible part.
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { Config } from '../../config/config.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import { ErrandError } from '../../domain/errors.ts';
import { makeKeepScreenshot } from '../../execution/artifacts/recording/keep-screenshot.ts';
import type { AnsweredEndpoints } from '../../execution/brief/answered-endpoints.ts';
import type { DocumentTurns } from '../../execution/brief/document-turns.ts';
import { makeFileTexts } from '../../execution/brief/file-texts.ts';
import { openConnector } from '../../execution/brief/open-connector.ts';
import { grantModel, resolveModel } from '../../execution/brief/resolve-model.ts';
import { type Broker, makeBroker } from '../../execution/broker/broker.ts';
import type { BudgetGate } from '../../execution/executor/budget-gate.ts';
import type { RunServices } from '../../execution/run-services.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { SecretBox } from '../../files/secret-box.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import { daemonClock } from '../daemon-clock.ts';

interface BrokerNeeds {
  readonly config: Config;
  readonly live: LiveConfig;
  readonly log: Log;
  readonly store: Store;
  readonly secrets: SecretBox;
}

/** The broker of connected services, as the config directory currently describes them. */
export function openBroker({ config, live, log, store, secrets }: BrokerNeeds): Broker {
  return makeBroker({
    store,
    secrets,
    log,
    connector: (name) => {
      const definition = live.definitions().connectors.get(name);
      return definition === undefined ? undefined : openConnector(definition, config.locations);
    },
    egress: () => live.settings().egress.allow,
    now: daemonClock.now,
  });
}

interface RunServiceParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly broker: Broker;
  readonly documentTurns: DocumentTurns;
  readonly budgets: Pick<BudgetGate, 'hold'>;
  readonly endpoints: AnsweredEndpoints;
  catalog(): Catalog;
}

/** The services that tools can request, by name. */
export function makeRunServices(parts: RunServiceParts): RunServices {
  const { store, blobs, broker, documentTurns, budgets, endpoints } = parts;
  return {
    report_insight: async (run, insight) => {
      const insightId = await store.insights.report(run, insight);
      if (insightId === undefined) throw new ErrandError('conflict', 'The run has ended.');
      return { insightId };
    },
    connector_request: (run, input) => broker.call(run.runSeq, input),
    read_document: makeFileTexts(documentTurns),
    hold_budget: budgets.hold,
    current_model: async (_run, { model }) => {
      const resolved = resolveModel(parts.catalog(), model);
      if (resolved === undefined) return null;
      const grant = grantModel(resolved);
      return { grant, hasAnswered: await endpoints.hasAnswered(grant.configured) };
    },
    keep_screenshot: makeKeepScreenshot({ store, blobs }),
  };
}
