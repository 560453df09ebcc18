// After the storm, while the nodes still run: they agree on who is there, and the bucket has what rows list and nothing else.
import { setTimeout as sleep } from 'node:timers/promises';
import { GRACE_MS } from '../../../src/store/objects.ts';
import { isInUse } from '../../../src/store/sessions/cleanups.ts';
import type { NodeWire } from '../../../src/wire/nodes.ts';
import type { Operator } from '../clients/operator.ts';
import { DATABASE } from '../storm/engine.ts';
import type { Parts } from './parts.ts';

const WITHIN_MS = 120_000;
const LOOK_MS = 500;

/** Returns what is wrong, in words. */
export async function calmDown(parts: Parts, operator: Operator): Promise<string[]> {
  return [...(await agreed(parts, operator)), ...(await swept(parts, operator)), ...(await agreed(parts, operator))];
}

const listNodes = async (operator: Operator) =>
  (await operator.ask<{ items: NodeWire[] }>('GET', '/api/v1/nodes')).items;

/** Every node is online, nobody else is known, and one of them leads. */
async function agreed({ nodes }: Parts, operator: Operator): Promise<string[]> {
  const expected = nodes.map(({ id }) => id).toSorted();
  let seen = '';
  const isRight = await within(async () => {
    const items = await listNodes(operator);
    seen = items.map(({ name, state, leader }) => `${name} ${state}${leader ? ', leads' : ''}`).join('; ');
    return (
      items
        .map(({ id }) => id)
        .toSorted()
        .join() === expected.join() &&
      items.every(({ state, twice }) => state === 'online' && !twice) &&
      items.filter(({ leader }) => leader).length === 1
    );
  });
  return isRight ? [] : [`after the storm, nodes are: ${seen}`];
}

/**
 * Objects that no row lists are noted, by a start at the latest, and are gone after the grace, which is not waited for: their notes
 * are made older. A start renews them, so the one that leads then is away until another one has removed them.
 */
async function swept(parts: Parts, operator: Operator): Promise<string[]> {
  const { cluster } = parts.engine;
  let unknown = await findUnknown(parts);
  if (unknown.length > 0) {
    const isNoted = await replaceLeader(
      parts,
      operator,
      0,
      async () => (unknown = await findUnknown(parts)).length === 0,
    );
    if (!isNoted) return unknown.map((key) => `nothing knows of the object ${key}, also after a start`);
  }
  await cluster.query(DATABASE, `UPDATE loose_objects SET noted_at = noted_at - ${GRACE_MS}`);
  let left: readonly { key: string }[] = [];
  const isSwept = await replaceLeader(parts, operator, WITHIN_MS, async () => {
    left = await cluster.query<{ key: string }>(DATABASE, 'SELECT key FROM loose_objects');
    return left.length === 0;
  });
  return isSwept ? [] : left.map(({ key }) => `the object ${key} is noted, and was neither removed nor listed`);
}

/** Objects that no row lists or notes. */
async function findUnknown({ bucket, engine }: Parts): Promise<string[]> {
  const keys = bucket.listFiles();
  const sql = `SELECT o.key FROM unnest(ARRAY[${keys.map((key) => `'${key}'`).join()}]::text[]) AS o (key)
    WHERE NOT (${isInUse('o.key')}) AND NOT EXISTS (SELECT 1 FROM loose_objects l WHERE l.key = o.key)`;
  return (await engine.cluster.query<{ key: string }>(DATABASE, sql)).map(({ key }) => key);
}

/** Another one leads from now on; this one starts after so long. Whether something holds in time. */
async function replaceLeader(
  { nodes }: Parts,
  operator: Operator,
  downMs: number,
  holds: () => Promise<boolean>,
): Promise<boolean> {
  const leader = (await listNodes(operator)).find((node) => node.leader);
  const node = nodes.find(({ id }) => id === leader?.id) ?? nodes[0]!;
  const over = new AbortController();
  const again = node.end({ downMs, interruptMs: null, early: over.signal });
  await node.daemon.stop('SIGTERM');
  const isSo = await within(holds);
  over.abort();
  await again;
  return isSo;
}

async function within(holds: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > until) return false;
    await sleep(LOOK_MS);
  }
  return true;
}
