// Users' connections to services, and how they answered when they were tried (I4).
import { CONNECTION_STATES } from '../../domain/capabilities/connector.ts';
import { array } from '../shapes/composites.ts';
import { endpoints, idOf } from '../endpoint.ts';
import { listOf } from '../listing.ts';
import { record, request } from '../shapes/record.ts';
import { boolean, integer, line, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse, refersTo } from '../shapes/shape.ts';

/** A user's connection, without its secret. */
const connection = named(
  'Connection',
  record({
    id: uuid,
    connector: string,
    name: string,
    userId: uuid,
    username: string,
    state: oneOf(CONNECTION_STATES),
    lastError: nullable(string),
    createdAt: time,
    updatedAt: time,
  }),
);
export type ConnectionWire = JsonOf<typeof connection>;

const name = line({ max: 200 });

/** `user` is a name or an id. */
const newConnection = named(
  'NewConnection',
  request({
    user: refersTo('users', name),
    connector: name,
    name: orElse(nullable(name), null),
    secret: orElse(nullable(line({ max: 8_192 })), null),
  }),
);

/** What to list of them. `user` is a name or an id. */
const connectionQuery = request({ user: orElse(refersTo('users', string), null) });

const outcome = {
  ok: boolean,
  status: nullable(integer()),
  durationMs: nullable(integer({ from: 0 })),
  error: nullable(string),
};

/** How a connection answered when it was tried. */
const connectionCheck = named('ConnectionCheck', record({ connection, ...outcome }));
export type ConnectionCheckWire = JsonOf<typeof connectionCheck>;

/** How a connector's service answered without a credential, and with each connection. */
const connectorCheck = named(
  'ConnectorCheck',
  record({ connector: string, ...outcome, connections: array(connectionCheck) }),
);
export type ConnectorCheckWire = JsonOf<typeof connectorCheck>;

const params = { id: idOf('Connection', 'connections') };

/** Users' connections to services, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const connections = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/connections', summary: 'List connections', operation: 'listConnections', query: connectionQuery, reply: listOf(connection) },
  create: { route: 'POST /api/v1/connections', summary: 'Create a connection', operation: 'createConnection', body: newConnection, reply: connection, statuses: [201] },
  revoke: { route: 'DELETE /api/v1/connections/:id', summary: 'Revoke a connection', operation: 'revokeConnection', params, reply: connection },
  checkConnector: { route: 'POST /api/v1/connectors/:ref/check', summary: 'Try a connector and all its connections', operation: 'checkConnector', reply: connectorCheck },
  check: { route: 'POST /api/v1/connections/:id/check', summary: 'Try a connection', operation: 'checkConnection', params, reply: connectionCheck },
});
