// What the report says of a storm over several nodes: which faults came, what they met, and how long it took until work went on.
import type { Stretch } from '../../../src/selftest/storm/storm.ts';
import type { Row } from '../subject.ts';
import type { Attempt } from './attempts.ts';
import type { ChaosNode } from './node.ts';
import type { Parts } from './parts.ts';
import type { Blown } from './storm.ts';
import type { Kind, Strike } from './strikes.ts';

/** The lines. */
export function rowsOf(
  { nodes, balancer }: Parts,
  { strikes, serverDown, bucketDown }: Blown,
  attempts: readonly Attempt[],
): Row[] {
  const of = (kind: Kind) => strikes.filter((one) => one.kind === kind);
  const stages = Map.groupBy(
    of('kill').flatMap((one) => one.stages),
    (stage) => stage,
  );
  const byNode = Map.groupBy(attempts, ({ run_seq }) => run_seq);
  const moved = [...byNode.values()].filter((own) => new Set(own.map(({ node_id }) => node_id)).size > 1);
  const logs = nodes.map(({ daemon }) => daemon.stderr()).join('\n');
  return [
    ['nodes', nodes.length],
    ['faults', strikes.length + serverDown.length + bucketDown.length],
    ['  kills of a node', of('kill').length],
    ['    of nodes without a run', of('kill').filter((one) => one.stages.length === 0).length],
    ...[...stages].map(([stage, runs]): Row => [`    runs ${stage}`, runs.length]),
    ['    in a start, in addition', nodes.reduce((sum, node) => sum + node.interrupted(), 0)],
    ...renderAway('stopped', of('stop')),
    ...renderAway('cut off from the server', of('cut')),
    ['  drained under load', of('drain').length],
    ['    longest until it was drained, seconds', seconds(Math.max(0, ...of('drain').map((one) => one.lastedMs)))],
    ['  ended with SIGTERM', of('end').length],
    ['  kills of the server', serverDown.length],
    ['  the bucket away', bucketDown.length],
    ['    longest, seconds', seconds(Math.max(0, ...bucketDown.map(({ from, to }) => to - from)))],
    ['ends of a node by itself', nodes.reduce((sum, { ends }) => sum + ends.filter((one) => !one.isAsked).length, 0)],
    ['nodes taken for lost', logs.split('a node was lost').length - 1],
    ['runs with attempts at several nodes', moved.length],
    ...renderDelays(strikes, attempts),
    ...nodes.map(({ name }, at): Row => [`requests passed to ${name}`, balancer.passed[at]!]),
    ['requests that found no node', balancer.refused()],
    ['replies that broke off', balancer.broken()],
  ];
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1);

function renderAway(what: string, strikes: readonly Strike[]): Row[] {
  return [
    [`  ${what}`, strikes.length],
    ['    longest, seconds', seconds(Math.max(0, ...strikes.map((one) => one.lastedMs)))],
    ['    taken for lost meanwhile', strikes.filter((one) => one.takenAt !== null).length],
  ];
}

/** From a kill until each run that was in progress there began again, wherever that was. */
function renderDelays(strikes: readonly Strike[], attempts: readonly Attempt[]): Row[] {
  const delays = strikes
    .filter(({ kind }) => kind === 'kill')
    .flatMap(({ node, from }) => {
      const before = attempts.filter(({ node_id, at }) => node_id === node.id && at <= from);
      return before.flatMap(({ run_seq, attempt }) => {
        const next = attempts.find((one) => one.run_seq === run_seq && one.attempt === attempt + 1 && one.at > from);
        // A later one is of a later fault.
        return next === undefined || next.at - from > LATE_MS ? [] : [next.at - from];
      });
    })
    .sort((a, b) => a - b);
  return [
    ['runs of killed nodes that went on', delays.length],
    ['  after, median seconds', seconds(delays[Math.floor(delays.length / 2)] ?? 0)],
    ['  after, longest seconds', seconds(delays.at(-1) ?? 0)],
  ];
}

const LATE_MS = 60_000;

/** Everything that came, a line each, in the order of the beginnings. */
export function timelineOf(
  nodes: readonly ChaosNode[],
  { strikes, serverDown, bucketDown }: Blown,
  others: readonly Stretch[],
): string {
  const lines = [
    ...strikes.map(
      (one) => [one, `${one.node.name} ${one.kind}${one.takenAt === null ? '' : ', taken for lost'}`] as const,
    ),
    ...nodes.flatMap(({ name, ends }) => ends.map((one) => [one, `${name} ended with ${one.code}`] as const)),
    ...serverDown.map((one) => [one, 'the server is killed'] as const),
    ...bucketDown.map((one) => [one, 'the bucket is away'] as const),
    ...others.map((one) => [one, 'a lock is held, or the machine stands still'] as const),
  ].toSorted(([a], [b]) => a.from - b.from);
  const time = (at: number) => new Date(at).toISOString().slice(11, 23);
  return lines.map(([{ from, to }, words]) => `${time(from)} to ${time(to)}: ${words}\n`).join('');
}
