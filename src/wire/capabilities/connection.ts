// Users' connections to services, and how they answered when they were tried (I4).
import { CONNECTION_STATES } from '../../domain/capabilities/connector.ts';
import { array, object } from '../composites.ts';
import { boolean, integer, line, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, type Static } from '../shape.ts';

/** A user's connection, without its secret. */
export const connection = named(
  'Connection',
  object({
    id: uuid,
    connector: string,
    name: string,
    user_id: uuid,
    username: string,
    state: oneOf(CONNECTION_STATES),
    last_error: nullable(string),
    created_at: time,
    updated_at: time,
  }),
);
export type ConnectionWire = Static<typeof connection>;

const name = line({ max: 200 });

/** `user` is a name or an id. */
export const newConnection = named(
  'NewConnection',
  object({ user: name, connector: name, name: nullish(name), secret: nullish(line({ max: 8_192 })) }),
);
export type NewConnectionWire = Static<typeof newConnection>;

/** What to list of them. `user` is a name or an id. */
export const connectionQuery = object({ user: optional(string) });

const outcome = {
  ok: boolean,
  status: nullable(integer()),
  duration_ms: nullable(integer({ from: 0 })),
  error: nullable(string),
};

/** How a connection answered when it was tried. */
export const connectionCheck = named('ConnectionCheck', object({ connection: connection, ...outcome }));
export type ConnectionCheckWire = Static<typeof connectionCheck>;

/** How a connector's service answered without a credential, and with each connection. */
export const connectorCheck = named(
  'ConnectorCheck',
  object({ connector: string, ...outcome, connections: array(connectionCheck) }),
);
export type ConnectorCheckWire = Static<typeof connectorCheck>;
