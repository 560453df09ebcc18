// The faults of one node: killed, stopped for a while, cut off from its server, told to end, drained.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../../../src/selftest/storm/chance.ts';
import type { Stretch } from '../../../src/selftest/storm/storm.ts';
import type { Cluster } from '../../../test/support/postgres/cluster.ts';
import type { NodeWire } from '../../../src/wire/nodes.ts';
import type { Operator } from '../clients/operator.ts';
import { processOf, stagesAt, UNCOLLECTED } from './attempts.ts';
import type { ChaosNode } from './node.ts';

export const KINDS = ['kill', 'kill', 'kill', 'kill', 'stop', 'stop', 'cut', 'cut', 'drain', 'end'] as const;
export type Kind = (typeof KINDS)[number];

/** One that came. */
export interface Strike extends Stretch {
  readonly node: ChaosNode;
  readonly kind: Kind;
  /** What each of the node's runs was doing when it was killed. */
  readonly stages: readonly string[];
  /** Since when, at the latest, its runs were taken from it while it wasn't dead; null when they were not. */
  readonly takenAt: number | null;
  /** Milliseconds that it was stopped or cut off, or until it was drained. */
  readonly lastedMs: number;
  readonly problems: readonly string[];
}

export interface StrikeParts {
  readonly cluster: Pick<Cluster, 'query'>;
  readonly operator: Operator;
  readonly chance: Chance;
}

type Outcome = Partial<Pick<Strike, 'from' | 'stages' | 'takenAt' | 'lastedMs' | 'problems'>>;

const STRIKES: Readonly<Record<Kind, (node: ChaosNode, parts: StrikeParts) => Promise<Outcome>>> = {
  kill,
  stop,
  cut,
  drain,
  end,
};

/** Resolves when it is over, and the node is ready again. */
export async function strike(node: ChaosNode, kind: Kind, parts: StrikeParts): Promise<Strike> {
  const from = Date.now();
  const outcome = await STRIKES[kind](node, parts);
  const to = Date.now();
  return { node, kind, from, to, stages: [], takenAt: null, lastedMs: to - from, problems: [], ...outcome };
}

/** How long it stays down; sometimes for so long that others take its runs. */
const downMs = (chance: Chance) => chance.pick([0, 0, chance.between(500, 5_000), chance.between(20_000, 30_000)]);
const LONGEST_START_MS = 500;

async function kill(node: ChaosNode, { cluster, chance }: StrikeParts): Promise<Outcome> {
  const interruptMs = chance.oneIn(6) ? chance.between(0, LONGEST_START_MS) : null;
  const plan = { downMs: downMs(chance), interruptMs };
  const stages = await stagesAt(cluster, node.id);
  const from = Date.now();
  const again = node.end(plan);
  await node.daemon.kill();
  await again;
  return { from, stages };
}

const STOP_MS = 60_000;

async function end(node: ChaosNode, { chance }: StrikeParts): Promise<Outcome> {
  const again = node.end({ downMs: chance.between(0, 5_000), interruptMs: null });
  const stopping = node.daemon.stop('SIGTERM');
  const exit = await Promise.race([stopping, sleep(STOP_MS, null, { ref: false })]);
  if (exit === null) await node.daemon.kill();
  await again;
  return exit?.code === 0 ? {} : { problems: [`its clean stop ended with ${exit?.signal ?? exit?.code ?? 'nothing'}`] };
}

/** For so long it stands still or is cut off: the others take its runs after 15 s. */
const awayMs = (chance: Chance) =>
  chance.pick([chance.between(500, 5_000), chance.between(5_000, 14_000), chance.between(16_000, 40_000)]);

async function stop(node: ChaosNode, parts: StrikeParts): Promise<Outcome> {
  const pid = node.daemon.pid();
  return away(node, parts, {
    begin: () => void process.kill(pid, 'SIGSTOP'),
    over: () => void process.kill(pid, 'SIGCONT'),
  });
}

async function cut(node: ChaosNode, parts: StrikeParts): Promise<Outcome> {
  const breaks = parts.chance.oneIn(2);
  return away(node, parts, {
    begin: node.wire.stall,
    over: () => {
      // Nothing that was under way arrives.
      if (breaks) node.wire.cut();
      node.wire.go();
    },
  });
}

const LOOK_MS = 200;
/** A node that was taken for lost notices that with its next beat, on a machine that may be slow. */
const NOTICE_MS = 90_000;

async function away(
  node: ChaosNode,
  { cluster, chance }: StrikeParts,
  { begin, over }: { begin(): void; over(): void },
): Promise<Outcome> {
  const process = await processOf(cluster, node.id);
  const again = node.again();
  const beganAt = performance.now();
  begin();
  await sleep(awayMs(chance));
  const now = await processOf(cluster, node.id);
  const isTaken = typeof process === 'string' && now !== undefined && now !== process;
  const takenAt = isTaken ? Date.now() : null;
  over();
  const lastedMs = performance.now() - beganAt;
  const isSeen = isTaken
    ? await Promise.race([again.then(() => true), sleep(NOTICE_MS, false, { ref: false })])
    : await Promise.race([again.then(() => true), ready(node)]);
  const problems = isSeen ? [] : [isTaken ? 'it was taken for lost, and goes on' : 'it did not get ready again'];
  return { takenAt, lastedMs, problems };
}

/** Waits until it gets turns again. */
async function ready({ daemon }: ChaosNode): Promise<boolean> {
  const until = performance.now() + NOTICE_MS;
  while (performance.now() < until) {
    const signal = AbortSignal.timeout(LOOK_MS * 10);
    const response = await fetch(`${daemon.url}/readyz`, { signal }).catch(() => undefined);
    await response?.body?.cancel().catch(() => undefined);
    if (response?.status === 200) return true;
    await sleep(LOOK_MS);
  }
  return false;
}

const DRAINED_MS = 90_000;

async function drain(node: ChaosNode, { cluster, operator, chance }: StrikeParts): Promise<Outcome> {
  const path = `/api/v1/nodes/${node.name}`;
  const beganAt = performance.now();
  await operator.ask('POST', `${path}/drain`);
  const state = async () => (await operator.ask<NodeWire>('GET', path)).state;
  let isDrained = false;
  // It may be killed meanwhile with the server, and is offline for a while then.
  while (!isDrained && performance.now() - beganAt < DRAINED_MS) {
    isDrained = (await state()) === 'drained';
    await sleep(LOOK_MS);
  }
  const lastedMs = performance.now() - beganAt;
  await sleep(chance.between(0, 5_000));
  const executing = isDrained ? (await stagesAt(cluster, node.id)).filter((stage) => stage !== UNCOLLECTED) : [];
  await operator.ask('POST', `${path}/undrain`);
  const isReady = await ready(node);
  return {
    lastedMs,
    problems: [
      ...(isDrained ? [] : ['it was not drained in time']),
      ...executing.map((stage) => `it was drained, and has a run that is ${stage}`),
      ...(isReady ? [] : ['it did not get ready again']),
    ],
  };
}
