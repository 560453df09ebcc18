// Sends a request, and says why there was no reply, or what a reply refuses.
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import { ClientError } from '../../client/transport/client-error.ts';

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

/** The error of a refusal. */
export function refusal(status: number, body: JsonValue | undefined): ClientError {
  const holder = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : body;
  const said = isJsonObject(holder) ? holder['message'] : undefined;
  const message = typeof said === 'string' && said !== '' ? said : `The daemon answered ${status}.`;
  return new ClientError({ kind: 'refused', status }, message);
}

/** What a reply has, undefined where it is no JSON. Throws ClientError. */
export async function bodyOf(reply: Response): Promise<JsonValue | undefined> {
  try {
    return (await reply.json()) as JsonValue;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw new ClientError({ kind: 'lost' }, 'The connection to the daemon was lost.', { cause });
  }
}
