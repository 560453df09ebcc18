// This process as a node among the others.
import { hostname } from 'node:os';
import type { Config } from '../../config/config.ts';
import { makeFingerprints } from '../../config/fingerprints.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Collector } from '../../execution/artifacts/collector.ts';
import type { HeartbeatParts } from '../../execution/queue/heartbeat.ts';
import { makeNode, type WorkerNodes } from '../../execution/queue/node.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { NodeIdentity } from '../../files/node-id.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import { VERSION } from '../../version.ts';
import { daemonClock as clock } from '../daemon-clock.ts';

export interface NodeParts {
  readonly config: Pick<Config, 'workers' | 'locations'>;
  readonly live: LiveConfig;
  readonly deriveKey: DeriveKey;
  readonly store: Store;
  readonly log: Log;
  readonly identity: NodeIdentity & { readonly process: string };
}

/** This process as a node. The queue, which knows what runs here, is made after it. */
export function openNode(
  { config, live, store, log, identity, deriveKey }: NodeParts,
  hooks: { slots(): number; running(): number } & Pick<HeartbeatParts, 'opened' | 'led' | 'silenced'>,
): WorkerNodes {
  const { configDir } = config.locations;
  const key = deriveKey('configuration', Buffer.alloc(0));
  const configuration = store.peers === null ? () => null : makeFingerprints({ live, configDir, key });
  const facts = () => {
    const { node, listen } = live.settings();
    return {
      name: node.name || hostname(),
      version: VERSION,
      address: listen,
      slots: config.workers ? hooks.slots() : 0,
      labels: node.labels,
      running: hooks.running(),
      configuration: configuration(),
    };
  };
  return makeNode({
    store,
    peers: store.peers,
    clock,
    machine: systemClock,
    log,
    identity,
    process: identity.process,
    facts,
    ...hooks,
  });
}

/** What a removed node has not collected is lost with it. */
export const removing = (node: WorkerNodes, { nodeRemoved }: Pick<Collector, 'nodeRemoved'>): WorkerNodes => ({
  ...node,
  remove: async (...which) => {
    const isRemoved = await node.remove(...which);
    if (isRemoved) nodeRemoved();
    return isRemoved;
  },
});
