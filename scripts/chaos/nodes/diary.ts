// What happened to which node, as far as it excuses what became of its runs and what it logged.
import type { Stretch } from '../../../src/selftest/storm/storm.ts';
import { type Diary, isExcused, isWithin, type Loss } from '../storm/faults.ts';
import type { Attempt } from './attempts.ts';
import type { ChaosNode } from './node.ts';
import type { Blown } from './storm.ts';

/** Until those of a node that wasn't dead are ended by itself, or taken by others. */
const ECHO_MS = 25_000;
/** Until what could not reach the bucket has said so: it tries again for 20 s, also when the bucket is back. */
const BUCKET_ECHO_MS = 60_000;
/** Until the files of a run that has ended are collected, on a busy machine. */
const COLLECTED_MS = 10_000;

export interface NodesDiary extends Diary {
  readonly attempts: readonly Attempt[];
  /** Whether a node may have lost runs or files then, or said so. */
  isHurt(node: string, at: number): boolean;
  /** Whether the node of a run that ended then may have been lost before the files of the run were collected. */
  mayLoseFiles(node: string, endedAt: number): boolean;
}

interface Facts extends Blown {
  readonly nodes: readonly ChaosNode[];
  readonly attempts: readonly Attempt[];
  readonly locks: readonly Stretch[];
  /** When this process, and so the machine, stood still. */
  readonly stalls: readonly Stretch[];
}

/** Makes it. `id` of nodes name them. */
export function makeNodesDiary({ nodes, attempts, strikes, locks, serverDown, bucketDown, stalls }: Facts): NodesDiary {
  const widened = ({ from, to }: Stretch): Stretch => ({ from, to: to + ECHO_MS });
  const everywhere = [...serverDown, ...stalls].map(widened);
  const losses = new Map(
    nodes.map(({ id, ends }) => {
      const own = strikes.filter(({ node, kind }) => node.id === id && kind !== 'drain');
      const byStrike = own.map(
        (one): Loss => (one.kind === 'kill' ? { ...one, isKill: true } : { ...widened(one), isKill: false }),
      );
      const others = [...ends, ...everywhere].map((one): Loss => ({ ...widened(one), isKill: false }));
      return [id, [...byStrike, ...others]] as const;
    }),
  );
  const nodeOf = new Map(attempts.map(({ run_seq, attempt, node_id }) => [`${run_seq}.${attempt}`, node_id]));
  const lossesOf = (node: string | undefined) => losses.get(node ?? '') ?? [];
  const diary: Diary = {
    lossesOf: (runSeq, attempt) => lossesOf(nodeOf.get(`${runSeq}.${attempt}`)),
    locks,
    serverDown,
    outage: null,
  };
  const noBucket = bucketDown.map(({ from, to }) => ({ from, to: to + BUCKET_ECHO_MS }));
  return {
    ...diary,
    attempts,
    isHurt: (node, at) => isWithin(at, lossesOf(node)) || isWithin(at, noBucket) || isExcused(at, diary),
    mayLoseFiles: (node, endedAt) =>
      [...lossesOf(node), ...noBucket].some(({ from, to }) => from <= endedAt + COLLECTED_MS && to >= endedAt) ||
      isExcused(endedAt, diary),
  };
}
