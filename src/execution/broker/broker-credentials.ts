// The credentials of connections: stored ones, and the access tokens that they are exchanged for (OAuth 2.0, RFC 6749).
import { KB } from '../../domain/byte-units.ts';
import type { Connection, Connector, ConnectorAuth } from '../../domain/capabilities/connector.ts';
import type { EgressRule } from '../../domain/egress.ts';
import { isJsonObject } from '../../domain/json.ts';
import type { SecretBox } from '../../files/secret-box.ts';
import { EgressError, type EgressPolicy } from '../../outbound/egress.ts';
import { type GuardedReply, guardedFetch } from '../../outbound/guarded-fetch.ts';
import { makeRedactor, secretsIn } from '../../outbound/secrets/redact.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';

/** The text for the header; `kept` are other secrets that a service might repeat. */
export interface Credential {
  readonly text: string;
  readonly kept: readonly string[];
}

/** A service or its token server rejects the credential. The message is suitable for a user. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
}

type OAuth = Exclude<ConnectorAuth, { kind: 'token' }>;

interface AccessToken {
  readonly text: string;
  /** Epoch ms; renewed a little earlier. */
  readonly expiresAt: number;
  /** The client and scope that requested it: others need another token. */
  readonly client: string;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 64 * KB;
const EARLY_MS = 30_000;
/** For servers that do not report a token's lifetime. */
const DEFAULT_LIFE_S = 300;

export interface CredentialParts {
  readonly store: Pick<Store, 'connections' | 'peers'>;
  readonly secrets: SecretBox;
  readonly log: Log;
  egress(): readonly EgressRule[];
  now(): number;
}

export type Credentials = ReturnType<typeof makeCredentials>;

/** The credentials of connections, as they are sent. */
export function makeCredentials({ store, secrets, log, egress, now }: CredentialParts) {
  const tokens = new Map<string, AccessToken>();
  /** One exchange at a time per connection: a refresh token may be valid only once. */
  const exchanges = new Map<string, Promise<AccessToken>>();

  async function secretOf({ id }: Connection): Promise<string> {
    const sealed = await store.connections.secretOf(id);
    if (sealed === null) throw new CredentialError('The connection has no credential.');
    return secrets.open(sealed, id);
  }

  async function get(connection: Connection, connector: Connector): Promise<Credential> {
    const { auth } = connector;
    if (auth.kind === 'token') return { text: await secretOf(connection), kept: [] };
    const known = tokens.get(connection.id);
    const good = known !== undefined && known.expiresAt - EARLY_MS > now() && known.client === clientOf(auth);
    const token = good ? known : await exchange(connection, auth, connector.caFile);
    return { text: token.text, kept: auth.clientSecret === null ? [] : [auth.clientSecret] };
  }

  function exchange(connection: Connection, auth: OAuth, caFile: string | null): Promise<AccessToken> {
    const running = exchanges.get(connection.id);
    if (running !== undefined) return running;
    const started = askAlone(connection, auth, caFile).finally(() => exchanges.delete(connection.id));
    exchanges.set(connection.id, started);
    return started;
  }

  /** Other daemons have their turns: each reads the token that the one before it was given. */
  function askAlone(connection: Connection, auth: OAuth, caFile: string | null): Promise<AccessToken> {
    const work = () => ask(connection, auth, caFile);
    if (store.peers === null || auth.kind !== 'oauth2_refresh_token') return work();
    return store.peers.exclusively(`connection ${connection.id}`, work);
  }

  async function ask(connection: Connection, auth: OAuth, caFile: string | null): Promise<AccessToken> {
    const refresh = auth.kind === 'oauth2_refresh_token' ? await secretOf(connection) : null;
    const sent = [refresh, auth.clientSecret].flatMap((secret) => (secret === null ? [] : secretsIn(secret)));
    const answer = readTokenAnswer(await postForm(auth, refresh, { allow: egress(), caFile }), sent);
    // A server that rotates refresh tokens has invalidated the old one: without the new one the connection is lost.
    if (refresh !== null && answer.refreshToken !== null && answer.refreshToken !== refresh) {
      await store.connections.replaceSecret(connection.id, secrets.seal(answer.refreshToken, connection.id));
    }
    const token = {
      text: answer.accessToken,
      expiresAt: now() + answer.lifeSeconds * 1_000,
      client: clientOf(auth),
    };
    tokens.set(connection.id, token);
    return token;
  }

  return {
    /** The credential to send now. Throws CredentialError, EgressError. */
    get,
    /** Another access token, to replace a refused one. */
    renew: async (connection: Connection, connector: Connector): Promise<Credential> => {
      tokens.delete(connection.id);
      return get(connection, connector);
    },
    /** Records whether the credential was accepted; null means it was. */
    note: async (connection: Connection, error: string | null): Promise<void> => {
      const news = await store.connections.noteState(connection.id, error === null ? 'active' : 'failed', error);
      if (news && error !== null) log.warn({ connection_id: connection.id, error }, 'a connection has failed');
    },
  };
}

const clientOf = ({ tokenUrl, clientId, clientSecret, scopes }: OAuth) =>
  JSON.stringify([tokenUrl, clientId, clientSecret, scopes]);

/** As RFC 6749 §2.3.1 requires, which differs from encodeURIComponent. */
const formEncode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);

async function postForm(auth: OAuth, refreshToken: string | null, policy: Omit<EgressPolicy, 'purpose'>) {
  const form = new URLSearchParams({
    grant_type: refreshToken === null ? 'client_credentials' : 'refresh_token',
    ...(refreshToken !== null && { refresh_token: refreshToken }),
    ...(auth.scopes.length > 0 && { scope: auth.scopes.join(' ') }),
    ...(auth.clientSecret === null && { client_id: auth.clientId }),
  });
  const basic = `${formEncode(auth.clientId)}:${formEncode(auth.clientSecret ?? '')}`;
  try {
    return await guardedFetch(
      { purpose: 'connector', ...policy },
      {
        url: auth.tokenUrl,
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
          ...(auth.clientSecret !== null && { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
        },
        body: form.toString(),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        maxRedirects: 0,
      },
    );
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new CredentialError(`The token server cannot be reached: ${error.message}`, { cause: error });
  }
}

function readTokenAnswer(reply: GuardedReply, sent: readonly string[]) {
  const body = parse(Buffer.from(reply.body).toString('utf8'));
  if (reply.status !== 200 || typeof body['access_token'] !== 'string') {
    const { error: code } = body;
    // Only error codes in the form of RFC 6749 §5.2: a server may repeat what it was sent, even in that form.
    const isCode = typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) && makeRedactor(sent)(code).places === 0;
    const error = isCode ? code : `status ${reply.status}`;
    throw new CredentialError(`The token server gave no access token (${error}).`);
  }
  const life = body['expires_in'];
  return {
    accessToken: body['access_token'],
    refreshToken: typeof body['refresh_token'] === 'string' ? body['refresh_token'] : null,
    lifeSeconds: typeof life === 'number' && life > 0 ? life : DEFAULT_LIFE_S,
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
