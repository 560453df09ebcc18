// One request of this page to the daemon, and the data in its answer.
import { isJsonObject } from '../../domain/json.ts';
import { ClientError } from '../../client/transport/client-error.ts';
import { type QueryFields, queryOf } from '../../client/transport/query.ts';
import type { Credential } from './credential.ts';
import { bodyOf, refusal, send } from './send.ts';

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
