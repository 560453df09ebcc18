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
 * are made older.
 */
async function swept(parts: Parts, operator: Operator): Promise<string[]> {
  const { cluster } = parts.engine;
  await restartLeader(parts, operator);
  let unknown: readonly string[] = [];
  const isNoted = await within(async () => (unknown = await findUnknown(parts)).length === 0);
  if (!isNoted) return unknown.map((key) => `nothing knows of the object ${key}, also after a start`);
  await cluster.query(DATABASE, `UPDATE loose_objects SET noted_at = noted_at - ${GRACE_MS}`);
  await restartLeader(parts, operator);
  let left: readonly { key: string }[] = [];
  const isSwept = await within(
    async () => (left = await cluster.query<{ key: string }>(DATABASE, 'SELECT key FROM loose_objects')).length === 0,
  );
  return isSwept ? [] : left.map(({ key }) => `the object ${key} is noted, and was neither removed nor listed`);
}

/** Objects that no row lists or notes. */
async function findUnknown({ bucket, engine }: Parts): Promise<string[]> {
  const keys = bucket.listFiles();
  const sql = `SELECT o.key FROM unnest(ARRAY[${keys.map((key) => `'${key}'`).join()}]::text[]) AS o (key)
    WHERE NOT (${isInUse('o.key')}) AND NOT EXISTS (SELECT 1 FROM loose_objects l WHERE l.key = o.key)`;
  return (await engine.cluster.query<{ key: string }>(DATABASE, sql)).map(({ key }) => key);
}

/** Another one leads from then on. */
async function restartLeader({ nodes }: Parts, operator: Operator): Promise<void> {
  const leader = (await listNodes(operator)).find((node) => node.leader);
  const node = nodes.find(({ id }) => id === leader?.id) ?? nodes[0]!;
  const again = node.end({ downMs: 0, interruptMs: null });
  await node.daemon.stop('SIGTERM');
  await again;
}

async function within(holds: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > until) return false;
    await sleep(LOOK_MS);
  }
  return true;
}
