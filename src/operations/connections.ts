// Administration of users' connections to services (I4).
import { ErrandError, notFound, unprocessable } from '../domain/errors.ts';
import type { Clock } from '../domain/clock.ts';
import type { ConnectorDefinition, Definitions } from '../catalog/definitions.ts';
import type { Connection } from '../domain/connector.ts';
import { newId } from '../domain/ids.ts';
import type { User } from '../domain/user.ts';
import type { Broker } from '../execution/broker.ts';
import type { SecretBox } from '../files/secret-box.ts';
import type { Store } from '../store/open-store.ts';

/** A connection with its owner's names. */
export interface ConnectionRecord extends Connection {
  readonly userId: string;
  readonly username: string;
}

/** `user` is a name or an id. `secret` is a token or a refresh token, where the connector needs one. */
export interface NewConnectionInput {
  readonly user: string;
  readonly connector: string;
  readonly name: string | null;
  readonly secret: string | null;
}

/** How a connection answered. `error` is in words, null when the service took the credential. */
export interface ConnectionCheck {
  readonly connection: ConnectionRecord;
  readonly ok: boolean;
  readonly status: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
}

/** How a connector's service answers without a credential, and how with each connection. */
export interface ConnectorCheck {
  readonly connector: string;
  readonly ok: boolean;
  readonly status: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly connections: readonly ConnectionCheck[];
}

export interface ConnectionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  readonly broker: Pick<Broker, 'probe' | 'reach'>;
  definitions(): Pick<Definitions, 'connectors'>;
}

/** The verbs on connections. Those that take an id throw `not_found` for an unknown one. */
export function makeConnectionOperations({ store, clock, secrets, broker, definitions }: ConnectionParts) {
  function withOwner(connection: Connection, owners: ReadonlyMap<number, User>): ConnectionRecord {
    const owner = owners.get(connection.userSeq)!;
    return { ...connection, userId: owner.id, username: owner.username };
  }

  async function owners(): Promise<ReadonlyMap<number, User>> {
    const { items } = await store.users.list();
    return new Map(items.map((user) => [user.seq, user]));
  }

  function requireConnector(name: string, secret: string | null): ConnectorDefinition {
    const connector = definitions().connectors.get(name);
    if (connector === undefined) {
      const known = [...definitions().connectors.keys()].join(', ') || 'none';
      throw unprocessable('connector', `must be a connector of connectors.yaml (${known})`);
    }
    const needsSecret = connector.auth.kind !== 'oauth2_client_credentials';
    if (needsSecret && secret === null) throw unprocessable('secret', 'is needed by this connector');
    if (!needsSecret && secret !== null) throw unprocessable('secret', 'must be left out: this connector has its own');
    return connector;
  }

  async function checkConnection(id: string): Promise<ConnectionCheck> {
    await store.connections.get(id);
    const found = await wordsOrResult(broker.probe(id));
    const connection = withOwner(await store.connections.get(id), await owners());
    if (typeof found === 'string') return { connection, ok: false, status: null, durationMs: null, error: found };
    const ok = found.status !== 401 && found.status < 500;
    const error = ok ? null : (connection.lastError ?? `The service answers ${found.status}.`);
    return { connection, ok, ...found, error };
  }

  return {
    /** The connections of a user (name or id), or of everybody. */
    listConnections: async (userReference: string | null) => {
      const user = userReference === null ? null : await store.users.get(userReference);
      const { items, total } = await store.connections.list(user?.seq ?? null);
      const known = await owners();
      return { items: items.map((connection) => withOwner(connection, known)), total };
    },

    createConnection: async (input: NewConnectionInput): Promise<ConnectionRecord> => {
      const connector = requireConnector(input.connector, input.secret);
      const user = await store.users.get(input.user);
      const id = newId(clock.now());
      const connection = await store.connections.create({
        id,
        userSeq: user.seq,
        connector: connector.name,
        name: input.name ?? connector.name,
        secret: input.secret === null ? null : secrets.seal(input.secret, id),
      });
      return withOwner(connection, new Map([[user.seq, user]]));
    },

    revokeConnection: async (id: string): Promise<ConnectionRecord> =>
      withOwner(await store.connections.revoke(id), await owners()),

    /** Tries a connection now, as a run would use it. */
    checkConnection,

    /** Tries a connector's address and all its connections. Throws `not_found` for an unknown name. */
    checkConnector: async (name: string): Promise<ConnectorCheck> => {
      if (!definitions().connectors.has(name)) throw notFound('Connector');
      const reached = await wordsOrResult(broker.reach(name));
      const { items } = await store.connections.list(null);
      const own = items.filter(({ connector, state }) => connector === name && state !== 'revoked');
      const connections = await Promise.all(own.map(({ id }) => checkConnection(id)));
      const answer =
        typeof reached === 'string'
          ? { status: null, durationMs: null, error: reached }
          : { ...reached, error: reached.status < 500 ? null : `The service answers ${reached.status}.` };
      return {
        connector: name,
        ok: answer.error === null && connections.every(({ ok }) => ok),
        ...answer,
        connections,
      };
    },
  };
}

/** What came of it, or the words of an expected failure. */
async function wordsOrResult<T extends object>(work: Promise<T>): Promise<T | string> {
  return work.catch((error: unknown) => {
    if (error instanceof ErrandError) return error.message;
    throw error;
  });
}
