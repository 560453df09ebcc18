// What an installation of several nodes consists of.
import type { PostgresEngine } from '../storm/engine.ts';
import type { Balancer } from './balancer.ts';
import type { ChaosBucket } from './bucket.ts';
import type { ChaosNode } from './node.ts';

export interface Parts {
  readonly engine: PostgresEngine;
  readonly bucket: ChaosBucket;
  readonly balancer: Balancer;
  readonly nodes: readonly ChaosNode[];
  /** Has the file that checks read. */
  readonly dataDir: string;
  readonly apiKey: string;
}
