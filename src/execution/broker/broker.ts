// The broker: calls connected services for runs and adds the credential, which no run ever sees (I4).
import { createHash, randomBytes } from 'node:crypto';
import type { Services } from '../../agent/port/services.ts';
import { MB } from '../../domain/byte-units.ts';
import type { Connection, Connector } from '../../domain/capabilities/connector.ts';
import type { EgressRule } from '../../domain/egress.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { SecretBox } from '../../files/secret-box.ts';
import type { Log } from '../../log/log.ts';
import { EgressError } from '../../outbound/egress.ts';
import { guardedFetch } from '../../outbound/guarded-fetch.ts';
import type { Store } from '../../store/open-store.ts';
import { type Credential, CredentialError, type Credentials, makeCredentials } from './broker-credentials.ts';
import { readServiceRequest, type ServiceRequest, renderReply } from './broker-request.ts';

type CallInput = Services['connector_request']['input'];
type CallOutput = Services['connector_request']['output'];

export interface BrokerParts {
  readonly store: Pick<Store, 'connections' | 'peers'>;
  readonly secrets: SecretBox;
  readonly log: Log;
  /** The connector of a name as it is configured now, or undefined. */
  connector(name: string): Connector | undefined;
  egress(): readonly EgressRule[];
  now(): number;
}

/** A run's attempt: its token is valid until it ends. */
export interface Admission {
  /** Random; valid for this attempt of this run only. Null when the run has no connections. */
  readonly token: string | null;
  end(): void;
}

export interface Broker {
  /** Lets a run use these connections until `end`. */
  admit(runSeq: number, connectionIds: readonly string[]): Admission;
  /** Makes one call for the run that has the token. Throws `forbidden`, `not_found`, `bad_request`, `bad_gateway`. */
  call(runSeq: number, input: CallInput): Promise<CallOutput>;
  /** Whether a connector's base address responds at all; sends no credential. Throws `not_found`, `bad_gateway`. */
  reach(connectorName: string): Promise<{ readonly status: number; readonly durationMs: number }>;
  /**
   * Tests a connection: gets its credential and calls the first of the connector's paths. Returns the status; throws as `call`
   * does.
   */
  probe(connectionId: string): Promise<{ readonly status: number; readonly durationMs: number }>;
}

const TIMEOUT_MS = 60_000;
const MAX_REPLY_BYTES = MB;

const digestOf = (token: string) => createHash('sha256').update(token).digest('base64');

interface ConnectedService {
  readonly connection: Connection;
  readonly connector: Connector;
}

/** Calls of connected services, with their credentials. */
function makeCalls(credentials: Credentials, egress: BrokerParts['egress']) {
  async function attempt({ connector }: ConnectedService, request: ServiceRequest, credential: Credential) {
    const { header, prefix } = connector.auth;
    const reply = await guardedFetch(
      { purpose: 'connector', allow: egress(), caFile: connector.caFile },
      {
        url: connector.baseUrl + request.path,
        method: request.method,
        headers: { ...request.headers, [header.toLowerCase()]: prefix + credential.text },
        body: request.body,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_REPLY_BYTES,
        // A redirect would carry the credential elsewhere; the agent gets its target instead.
        maxRedirects: 0,
        onOverflow: 'truncate',
      },
    );
    return { reply, credential };
  }

  /** Sends a request, and again with another access token when the first was refused before it expired. */
  return async (found: ConnectedService, request: ServiceRequest) => {
    const { connection, connector } = found;
    try {
      const first = await attempt(found, request, await credentials.get(connection, connector));
      const refused = first.reply.status === 401 && connector.auth.kind !== 'token';
      const last = refused ? await attempt(found, request, await credentials.renew(connection, connector)) : first;
      await credentials.note(
        connection,
        last.reply.status === 401 ? 'The service refuses the credential (401).' : null,
      );
      return last;
    } catch (error) {
      if (error instanceof CredentialError) await credentials.note(connection, error.message);
      if (error instanceof CredentialError || error instanceof EgressError) throw badGateway(error);
      throw error;
    }
  };
}

/** A request that the connector allows: even a test sends the credential nowhere else. */
function probeOf({ methods, paths }: Connector): ServiceRequest {
  const [path = '/'] = (paths[0] ?? '/').split('*');
  return { method: methods.includes('GET') ? 'GET' : 'HEAD', path: path || '/', headers: {}, body: null };
}

/** Everything that was sent to a service to authenticate the caller. */
const secretsOf = ({ auth }: Connector, { text, kept }: Credential) => [text, auth.prefix + text, ...kept];

const badGateway = (cause: Error) => new ErrandError('bad_gateway', cause.message, { cause });

/** Makes the broker. Tokens exist in memory only: a resumed run gets a new one. */
export function makeBroker({ store, secrets, log, connector: connectorOf, egress, now }: BrokerParts): Broker {
  /** By the digest of the token, so that the time of a look-up reveals nothing about other tokens. */
  const admitted = new Map<string, { readonly runSeq: number; readonly ids: ReadonlySet<string> }>();
  const send = makeCalls(makeCredentials({ store, secrets, log, egress, now }), egress);

  async function find(id: string): Promise<ConnectedService> {
    const connection = await store.connections.find(id);
    if (connection === undefined || connection.state === 'revoked') {
      throw new ErrandError('not_found', 'The connection was ended.');
    }
    const connector = connectorOf(connection.connector);
    if (connector === undefined) {
      throw new ErrandError('not_found', `The connector "${connection.connector}" is not configured any more.`);
    }
    return { connection, connector };
  }

  return {
    admit: (runSeq, connectionIds) => {
      if (connectionIds.length === 0) return { token: null, end: () => undefined };
      const token = randomBytes(32).toString('base64url');
      const digest = digestOf(token);
      admitted.set(digest, { runSeq, ids: new Set(connectionIds) });
      return { token, end: () => void admitted.delete(digest) };
    },

    call: async (runSeq, input) => {
      const admission = admitted.get(digestOf(input.token));
      if (admission === undefined || admission.runSeq !== runSeq || !admission.ids.has(input.connectionId)) {
        throw new ErrandError('forbidden', 'This run may not use that connection.');
      }
      const found = await find(input.connectionId);
      const { connection, connector } = found;
      const request = readServiceRequest(connector, input);
      const { reply, credential } = await send(found, request);
      const facts = { connection_id: connection.id, connector: connector.name, method: request.method };
      const { rendered, redacted } = renderReply(reply, secretsOf(connector, credential));
      log.info({ ...facts, status: reply.status }, 'a connected service was called');
      if (redacted > 0) log.warn({ ...facts, places: redacted }, 'a connected service repeated its credential');
      return rendered;
    },

    reach: async (connectorName) => {
      const connector = connectorOf(connectorName);
      if (connector === undefined) throw new ErrandError('not_found', 'Connector not found.');
      const startedAt = now();
      const request = { url: connector.baseUrl, timeoutMs: TIMEOUT_MS, maxBytes: MAX_REPLY_BYTES, maxRedirects: 0 };
      const reply = await guardedFetch(
        { purpose: 'connector', allow: egress(), caFile: connector.caFile },
        { ...request, onOverflow: 'truncate' },
      ).catch((error: unknown) => {
        throw error instanceof EgressError ? badGateway(error) : error;
      });
      return { status: reply.status, durationMs: now() - startedAt };
    },

    probe: async (connectionId) => {
      const found = await find(connectionId);
      const startedAt = now();
      const { reply } = await send(found, probeOf(found.connector));
      return { status: reply.status, durationMs: now() - startedAt };
    },
  };
}
