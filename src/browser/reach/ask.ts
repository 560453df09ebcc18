// One request of this page to the daemon, and the data in its answer.
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import { ClientError } from '../../client/transport/client-error.ts';
import { type QueryFields, queryOf } from '../../client/transport/query.ts';
import type { Credential } from './credential.ts';
import { refusal } from './refusal.ts';

const TIMEOUT_MS = 30_000;

/** Asks for a path below the API of the office. Throws ClientError. */
export type Ask = <T>(path: string, query?: QueryFields) => Promise<T>;

export function makeAsk(root: string, { headers }: Credential): Ask {
  return async <T>(path: string, query: QueryFields = {}): Promise<T> => {
    const reply = await send(`${root}/api/${path}${queryOf(query)}`, {
      headers: { accept: 'application/json', ...headers() },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const body = await bodyOf(reply);
    if (!reply.ok) throw refusal(reply.status, body);
    if (isJsonObject(body) && body['code'] === 0 && 'data' in body) return body['data'] as T;
    throw new ClientError({ kind: 'malformed' }, 'What answers there is not an Errand daemon.');
  };
}

/** Sends a request. Throws ClientError for what has no reply. */
export async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { cache: 'no-store', redirect: 'error', ...init });
  } catch (cause) {
    if (init.signal?.aborted === true && cause instanceof Error && cause.name === 'TimeoutError') {
      throw new ClientError({ kind: 'timeout' }, 'The daemon gave no answer in time.', { cause });
    }
    if (init.signal?.aborted === true) throw cause;
    throw new ClientError({ kind: 'unreachable' }, 'The daemon is not reachable.', { cause });
  }
}

async function bodyOf(reply: Response): Promise<JsonValue | undefined> {
  try {
    return (await reply.json()) as JsonValue;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw new ClientError({ kind: 'lost' }, 'The connection to the daemon was lost.', { cause });
  }
}
