// What the node that leads does alone: how far it is with it, only its own memory says (L7).
import { ErrandError } from '../domain/errors.ts';
import type { WorkerNodes } from '../execution/queue/node.ts';
import type { Store } from '../store/open-store.ts';

export interface LeadParts {
  readonly store: Pick<Store, 'peers'>;
  readonly node: Pick<WorkerNodes, 'list'>;
}

/** Throws `conflict` at another node than the one that leads, naming that one, and `unavailable` while none is known to lead. */
export function requireLead({ store, node }: LeadParts, what: string): void {
  if (store.peers === null) return;
  const leader = node.list().find((one) => one.leader);
  if (leader === undefined)
    throw new ErrandError(
      'unavailable',
      `${what} by the node that leads, and none does at this moment. Try again in a minute.`,
    );
  if (leader.isThis) return;
  const { name, address } = leader;
  throw new ErrandError('conflict', `${what} by the node that leads: ${name} (${address}). Ask that one.`);
}
