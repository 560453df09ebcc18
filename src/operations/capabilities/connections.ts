// Administration of users' connections to services (I4).
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { ErrandError, notFound, unprocessable } from '../../domain/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import type { ConnectorDefinition, Definitions } from '../../catalog/definitions.ts';
import { newId } from '../../domain/ids.ts';
import type { Administrator } from '../../domain/people/user.ts';
import { type LongListing, PORTION_ROWS, type Portions, portionsOf, rowsOf } from '../../domain/portions.ts';
import type { Broker } from '../../execution/broker/broker.ts';
import type { SecretBox } from '../../files/secret-box.ts';
import type { ConnectionRecord } from '../../store/people/connections.ts';
import type { Store } from '../../store/open-store.ts';
import { type Audit, itself } from '../audit/audit.ts';

/** `user` is a name or an id. `secret` is a token or a refresh token, where the connector needs one. */
export interface NewConnectionInput {
  readonly user: string;
  readonly connector: string;
  readonly name: string | null;
  readonly secret: string | null;
}

/** The connections of a user (name or id), or of all users. */
export interface ConnectionQuery {
  readonly user: string | null;
}

/** The result of a connection's test. `error` is a message; null when the service accepted the credential. */
export interface ConnectionCheck {
  readonly connection: ConnectionRecord;
  readonly ok: boolean;
  readonly status: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
}

/** How a connector's service responds without a credential, and with each connection. */
export interface ConnectorCheck {
  readonly connector: string;
  readonly ok: boolean;
  readonly status: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly connections: readonly ConnectionCheck[];
}

export interface ConnectionParts {
  readonly store: Pick<Store, 'connections' | 'users'>;
  readonly audit: Pick<Audit, 'change' | 'act'>;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  readonly broker: Pick<Broker, 'probe' | 'reach'>;
  definitions(): Pick<Definitions, 'connectors'>;
  readonly lookUp: LookUp;
}

/** Connections tested at the same time. */
const TRIED_AT_ONCE = 8;

/** The connections of a user, or of all users, in order of creation. */
export const connectionsOf = (store: Pick<Store, 'connections'>, userSeq: number | null): Portions<ConnectionRecord> =>
  portionsOf(async (last) => store.connections.list(userSeq, last?.seq ?? 0, PORTION_ROWS));

/** The verbs on connections. Those that take an id throw `not_found` for an unknown one. */
export function makeConnectionOperations(parts: ConnectionParts) {
  const { store, audit, clock, secrets, definitions, lookUp } = parts;

  async function requireConnector(name: string, secret: string | null): Promise<ConnectorDefinition> {
    const connector = await lookUp(() => definitions().connectors.get(name));
    if (connector === undefined) {
      const known = [...definitions().connectors.keys()].join(', ') || 'none';
      throw unprocessable('connector', `must be a connector of connectors.yaml (${known})`);
    }
    const needsSecret = connector.auth.kind !== 'oauth2_client_credentials';
    if (needsSecret && secret === null) throw unprocessable('secret', 'is needed by this connector');
    if (!needsSecret && secret !== null) throw unprocessable('secret', 'must be left out: this connector has its own');
    return connector;
  }

  return {
    listConnections: async (
      _caller: Administrator,
      { user }: ConnectionQuery,
    ): Promise<LongListing<ConnectionRecord>> => {
      const userSeq = user === null ? null : (await store.users.get(user)).seq;
      return { items: connectionsOf(store, userSeq), total: await store.connections.count(userSeq) };
    },

    createConnection: async (caller: Administrator, input: NewConnectionInput): Promise<ConnectionRecord> => {
      const connector = await requireConnector(input.connector, input.secret);
      const user = await store.users.get(input.user);
      const id = newId(clock.now());
      const fresh = {
        id,
        userSeq: user.seq,
        connector: connector.name,
        name: input.name ?? connector.name,
        secret: input.secret === null ? null : secrets.seal(input.secret, id),
      };
      return store.connections.create(fresh, audit.change(caller, 'connection.create', itself));
    },

    revokeConnection: async (caller: Administrator, id: string): Promise<ConnectionRecord> =>
      store.connections.revoke(id, audit.change(caller, 'connection.revoke', itself)),

    ...makeConnectionChecks(parts),
  };
}

function makeConnectionChecks({ store, audit, broker, definitions, lookUp }: ConnectionParts) {
  async function check(id: string): Promise<ConnectionCheck> {
    const found = await wordsOrResult(broker.probe(id));
    const connection = await store.connections.get(id);
    if (typeof found === 'string') return { connection, ok: false, status: null, durationMs: null, error: found };
    const ok = found.status !== 401 && found.status < 500;
    const error = ok ? null : (connection.lastError ?? `The service answers ${found.status}.`);
    return { connection, ok, ...found, error };
  }

  return {
    /** Tests a connection now, as a run would use it. */
    checkConnection: async (caller: Administrator, id: string): Promise<ConnectionCheck> => {
      await store.connections.get(id);
      await audit.act(caller, 'connection.check', id);
      return check(id);
    },

    /** Tests a connector's address and all its connections. Throws `not_found` for an unknown name. */
    checkConnector: async (caller: Administrator, name: string): Promise<ConnectorCheck> => {
      if (!(await lookUp(() => definitions().connectors.has(name)))) throw notFound('Connector');
      await audit.act(caller, 'connector.check', name);
      const reached = await wordsOrResult(broker.reach(name));
      const own: ConnectionRecord[] = [];
      for await (const connection of rowsOf(connectionsOf(store, null)))
        if (connection.connector === name && connection.state !== 'revoked') own.push(connection);
      const connections: ConnectionCheck[] = [];
      for (let at = 0; at < own.length; at += TRIED_AT_ONCE) {
        const some = own.slice(at, at + TRIED_AT_ONCE);
        connections.push(...(await Promise.all(some.map(({ id }) => check(id)))));
      }
      const answer =
        typeof reached === 'string'
          ? { status: null, durationMs: null, error: reached }
          : { ...reached, error: reached.status < 500 ? null : `The service answers ${reached.status}.` };
      const ok = answer.error === null && connections.every((connection) => connection.ok);
      return { connector: name, ok, ...answer, connections };
    },
  };
}

/** The result, or the message of an expected failure. */
async function wordsOrResult<T extends object>(work: Promise<T>): Promise<T | string> {
  return work.catch((error: unknown) => {
    if (error instanceof ErrandError) return error.message;
    throw error;
  });
}
