// The nodes of the installation, as administrators see them, drain them and remove them.
import type { KnownNode } from '../domain/nodes/node.ts';
import { ErrandError, notFound } from '../domain/errors.ts';
import type { Administrator } from '../domain/people/user.ts';
import type { WorkerNodes } from '../execution/queue/node.ts';
import { type Audit, itself } from './audit/audit.ts';

export interface NodeOperationParts {
  readonly node: Pick<WorkerNodes, 'list' | 'look' | 'setDraining' | 'remove'>;
  readonly audit: Pick<Audit, 'change'>;
}

/** The verbs. A `reference` is an id or a name. Those on one throw `not_found`, and `conflict` for a name that several have. */
export function makeNodeOperations({ node, audit }: NodeOperationParts) {
  /** As they are now. */
  async function list(): Promise<readonly KnownNode[]> {
    await node.look();
    return node.list();
  }

  async function get(reference: string): Promise<KnownNode> {
    const nodes = await list();
    const found = nodes.find(({ id }) => id === reference.toLowerCase());
    const named = found === undefined ? nodes.filter(({ name }) => name === reference) : [found];
    if (named.length > 1)
      throw new ErrandError('conflict', `Several nodes are named ${reference}: ${idsOf(named)}. Give the id.`);
    const [only] = named;
    if (only === undefined) throw notFound('Node');
    return only;
  }

  async function setDraining(caller: Administrator, reference: string, draining: boolean): Promise<KnownNode> {
    const { id } = await get(reference);
    await node.setDraining(id, draining, audit.change(caller, draining ? 'node.drain' : 'node.undrain', itself));
    return get(id);
  }

  return {
    listNodes: async (_caller: Administrator) => {
      const items = await list();
      return { items, total: items.length };
    },
    getNode: (_caller: Administrator, reference: string) => get(reference),
    /** It starts no runs from now on; those that execute there end. */
    drainNode: (caller: Administrator, reference: string) => setDraining(caller, reference, true),
    undrainNode: (caller: Administrator, reference: string) => setDraining(caller, reference, false),
    /** Throws `conflict` for one that is online. */
    removeNode: async (caller: Administrator, reference: string) => {
      const { id, name, state } = await get(reference);
      const note = audit.change(caller, 'node.remove', (removed: boolean) => (removed ? { id } : undefined));
      if (state === 'offline' && (await node.remove(id, note))) return { id };
      throw new ErrandError(
        'conflict',
        `The node ${name} is online. Stop it first; errand nodes drain lets its runs end.`,
      );
    },
  };
}

const idsOf = (nodes: readonly KnownNode[]) => nodes.map(({ id }) => id).join(', ');
