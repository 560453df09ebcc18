// Takes the row of this node at a start, unless another process beats there: a data directory that was copied has the same id.
import { type Clock, pauseAlive } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { type NodeFacts, ONLINE_MS } from '../../domain/nodes/node.ts';
import type { NodeRow } from '../../store/worker-nodes.ts';
import type { Store } from '../../store/open-store.ts';

const LOOK_MS = 1_000;

interface Parts {
  readonly nodes: Pick<Store['nodes'], 'list' | 'beat'>;
  readonly clock: Clock;
  /** The file that has its id. */
  readonly file: string;
  facts(): NodeFacts;
}

/**
 * Returns the process whose row it takes; null when it takes nobody's. One of the same place is dead, since the data directory is
 * locked. Of another one that has beaten lately, it waits whether it beats again. Throws `conflict` when it does.
 */
export async function takeNode({ nodes, clock, file, facts }: Parts): Promise<string | null> {
  const { id, place } = facts();
  const find = async () => (await nodes.list()).find((row) => row.id === id);
  const found = await find();
  if (found === undefined || found.process === null) return null;
  if (found.place === place || found.silentMs > ONLINE_MS) return found.process;
  // A beat from the future says nothing of when it was.
  const until = clock.monotonic() + ONLINE_MS - Math.max(found.silentMs, 0);
  for (;;) {
    await pauseAlive(clock, LOOK_MS);
    const row = await find();
    if (row === undefined || row.process === null) return null;
    if (row.beats !== found.beats || row.process !== found.process) {
      // It leaves a mark, so that the other one knows.
      await nodes.beat(facts(), null);
      throw new ErrandError('conflict', wordsOfCopy(row, file));
    }
    if (clock.monotonic() > until) return found.process;
  }
}

/** What to do about two processes with one id. `file` has it, in the data directory of the one that says so. */
export function wordsOfCopy({ id, name, address }: Pick<NodeRow, 'id' | 'name' | 'address'>, file: string): string {
  return (
    `Another process that runs has the id of this node, ${id}: ${name}, which listens on ${address}. A data directory was copied. ` +
    `Stop the one that has the copy, remove ${file} there, and start it again: it gets an id of its own.`
  );
}
