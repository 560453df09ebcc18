// The client's verbs on users' connections to services.
import type {
  ConnectionCheckWire,
  ConnectionWire,
  ConnectorCheckWire,
  NewConnectionWire,
} from '../wire/capabilities/connection.ts';
import type { ListWire } from '../wire/listing.ts';
import type { CallManagement, References } from './references.ts';
import { queryOf } from './transport/query.ts';

export interface Connections {
  list(userRef?: string): Promise<ListWire<ConnectionWire>>;
  create(input: NewConnectionWire): Promise<ConnectionWire>;
  revoke(id: string): Promise<ConnectionWire>;
  /** Tests it as a run would use it. */
  check(id: string): Promise<ConnectionCheckWire>;
  /** Tests a connector's address and all its connections. */
  checkConnector(name: string): Promise<ConnectorCheckWire>;
}

export function makeConnections(call: CallManagement, { at, whole }: References): Connections {
  return {
    list: async (userRef) => call('GET', `/connections${queryOf({ user: await whole('users', userRef) })}`),
    create: async (input) => call('POST', '/connections', { ...input, user: await whole('users', input.user) }),
    revoke: async (id) => call('DELETE', await at('connections', id)),
    check: async (id) => call('POST', `${await at('connections', id)}/check`),
    checkConnector: (name) => call('POST', `/connectors/${encodeURIComponent(name)}/check`),
  };
}
