// How the daemon says no.
import { ClientError } from '../../client/transport/client-error.ts';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';

/** The error of a refusal. */
export function refusal(status: number, body: JsonValue | undefined): ClientError {
  const holder = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : body;
  const said = isJsonObject(holder) ? holder['message'] : undefined;
  const message = typeof said === 'string' && said !== '' ? said : `The daemon answered ${status}.`;
  return new ClientError({ kind: 'refused', status }, message);
}
