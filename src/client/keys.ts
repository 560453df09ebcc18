// The client's verbs on API keys.
import type { CapabilityChoiceWire } from '../wire/capabilities/capability.ts';
import type { ListWire } from '../wire/listing.ts';
import { keys, type KeyWire } from '../wire/people/key.ts';
import type { CallManagement } from './references.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

/** Keys have whole ids. Connections that a key may use are named by the start of their ids. */
export interface Keys extends Omit<Verbs<typeof keys>, 'list'> {
  /** `user` is a name or an id; the keys of all are listed without. */
  list(user?: string): Promise<ListWire<KeyWire>>;
}

export function makeKeys(call: CallManagement, complete: Complete): Keys {
  const verbs = verbsOf(keys, call, complete);

  async function withConnections<F extends { readonly capability_config?: CapabilityChoiceWire | null }>(
    fields: F,
  ): Promise<F> {
    const ids = fields.capability_config?.connector_connection_ids;
    if (!ids) return fields;
    const connections = await Promise.all(ids.map(async (id) => complete('connections', id)));
    return { ...fields, capability_config: { ...fields.capability_config, connector_connection_ids: connections } };
  }

  return {
    ...verbs,
    list: async (user) => verbs.list({ user }),
    create: async (input) => verbs.create(await withConnections(input)),
    change: async (id, fields) => verbs.change(id, await withConnections(fields)),
  };
}
