// The client's verbs on users' connections to services.
import { type ConnectionWire, connections } from '../wire/capabilities/connection.ts';
import type { ListWire } from '../wire/listing.ts';
import type { CallManagement } from './references.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

export interface Connections extends Omit<Verbs<typeof connections>, 'list'> {
  /** `user` is a name or an id; the connections of all are listed without. */
  list(user?: string): Promise<ListWire<ConnectionWire>>;
}

export function makeConnections(call: CallManagement, complete: Complete): Connections {
  const verbs = verbsOf(connections, call, complete);
  return { ...verbs, list: async (user) => verbs.list({ user }) };
}
