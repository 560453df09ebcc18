// The storm over several nodes: each has its faults, the server and the bucket have their own, and at least one node is left alone at any time.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Chance, makeChance } from '../../../src/selftest/storm/chance.ts';
import type { Stretch } from '../../../src/selftest/storm/storm.ts';
import type { Cluster } from '../../../test/support/postgres/cluster.ts';
import type { Operator } from '../clients/operator.ts';
import { killOnce } from '../storm/engine.ts';
import type { ChaosBucket } from './bucket.ts';
import type { ChaosNode } from './node.ts';
import { KINDS, strike, type Strike } from './strikes.ts';

export interface Blown {
  /** In the order of their ends. */
  readonly strikes: readonly Strike[];
  /** Kills of the server. */
  readonly serverDown: readonly Stretch[];
  /** When the bucket was away, or stood still. */
  readonly bucketDown: readonly Stretch[];
}

interface BlowParts {
  readonly bucket: Pick<ChaosBucket, 'fail'>;
  readonly nodes: readonly ChaosNode[];
  readonly cluster: Cluster;
  readonly operator: Operator;
}

interface BlowRequest {
  /** How many faults. */
  readonly count: number;
  readonly seed: number;
  report(fault: number): void;
}

/** From the end of a fault of a node to its next one, and the same of the server and the bucket. */
const PAUSE_MS = { least: 1_000, most: 8_000 } as const;
const PART_PAUSE_MS = { least: 15_000, most: 45_000 } as const;
/** A storm of so many faults ends after so long, with fewer. */
const MOST_MS_A_FAULT = 30_000;
const LEAST_MS = 600_000;
const LOOK_MS = 50;

/** Lasts until all faults have come. Throws when a node can't be started again. */
export async function blowOver(parts: BlowParts, { count, seed, report }: BlowRequest): Promise<Blown> {
  const { nodes, cluster, bucket } = parts;
  const until = performance.now() + Math.max(LEAST_MS, count * MOST_MS_A_FAULT);
  const strikes: Strike[] = [];
  const [serverDown, bucketDown]: [Stretch[], Stretch[]] = [[], []];
  let [begun, over, hurt] = [0, 0, 0];
  const isLeft = () => begun < count && performance.now() < until;
  const ended = () => report((over += 1));

  async function befall(node: ChaosNode, at: number): Promise<void> {
    const chance = makeChance(seed ^ (0x0de5 + 7_919 * at));
    while (isLeft()) {
      await sleep(chance.between(PAUSE_MS.least, PAUSE_MS.most));
      await node.up();
      while (hurt >= nodes.length - 1) await sleep(LOOK_MS);
      if (!isLeft()) return;
      begun += 1;
      hurt += 1;
      strikes.push(await strike(node, chance.pick(KINDS), { ...parts, chance }));
      hurt -= 1;
      ended();
    }
  }

  async function befallPart(seedOf: number, fault: (chance: Chance) => Promise<unknown>): Promise<void> {
    const chance = makeChance(seed ^ seedOf);
    while (isLeft()) {
      const pausedUntil = performance.now() + chance.between(PART_PAUSE_MS.least, PART_PAUSE_MS.most);
      while (isLeft() && performance.now() < pausedUntil) await sleep(LOOK_MS);
      if (!isLeft()) return;
      begun += 1;
      await fault(chance);
      ended();
    }
  }

  const befallServer = () => befallPart(0x5e12, async (chance) => serverDown.push(await killOnce(cluster, chance)));
  const befallBucket = () =>
    befallPart(0xb0c4, async (chance) => {
      const from = Date.now();
      await bucket.fail(chance);
      bucketDown.push({ from, to: Date.now() });
    });

  const all = Promise.all([...nodes.map(befall), befallServer(), befallBucket()]);
  await Promise.race([all, ...nodes.map(({ broken }) => broken)]);
  await Promise.all(nodes.map((node) => node.up()));
  return { strikes, serverDown, bucketDown };
}
