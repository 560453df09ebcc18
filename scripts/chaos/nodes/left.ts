// What is checked of several nodes beside what holds for one daemon: who executed what, what ended by itself, and what was logged.
import Connection from 'better-sqlite3';
import { errorsIn } from '../checks/logged.ts';
import type { NodesDiary } from './diary.ts';
import type { Parts } from './parts.ts';
import type { ChaosNode } from './node.ts';

/** Returns every violation in words. `file`: the rows. */
export function checkNodes({ nodes }: Parts, diary: NodesDiary, file: string): string[] {
  return [
    ...checkRunsOfNodes(nodes, diary, file),
    ...nodes.flatMap((node) => checkEnds(node, diary)),
    ...nodes.flatMap(({ id, name, daemon }) =>
      errorsIn(daemon.stderr(), (at) => diary.isHurt(id, at)).map((words) => `${name} ${words}`),
    ),
  ];
}

interface RunRow {
  readonly seq: number;
  readonly attempt: number;
  readonly node_id: string | null;
}

/** Each run that has begun names a node, and it is the one that began its last attempt. */
function checkRunsOfNodes(nodes: readonly ChaosNode[], { attempts }: NodesDiary, file: string): string[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const last = new Map(attempts.map(({ run_seq, attempt, node_id }) => [`${run_seq}.${attempt}`, node_id]));
  const connection = new Connection(file, { readonly: true });
  const runs = connection
    .prepare<[], RunRow>('SELECT seq, attempt, node_id FROM runs WHERE started_at IS NOT NULL')
    .all();
  connection.close();
  return runs.flatMap(({ seq, attempt, node_id }) => {
    if (node_id === null || !ids.has(node_id)) return [`run ${seq} names the node ${node_id}`];
    const noted = last.get(`${seq}.${attempt}`);
    return noted === undefined || noted === node_id ? [] : [`run ${seq} names ${node_id}, and began at ${noted}`];
  });
}

/** A process ends by itself only where its node was taken for lost, or its server was away: after a fault. */
function checkEnds({ name, id, ends }: ChaosNode, diary: NodesDiary): string[] {
  return ends.flatMap(({ isAsked, from, code, words }) => {
    if (isAsked) return [];
    const isExpected = code === 1 && /took this node for lost|database/.test(words) && diary.isHurt(id, from);
    return isExpected ? [] : [`${name} ended by itself with ${code} at ${new Date(from).toISOString()}: ${words}`];
  });
}
