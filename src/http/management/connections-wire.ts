// Connections on the wire: what the management API reads and answers of them.
import { isoTime } from '../../domain/clock.ts';
import type { JsonObject } from '../../domain/json.ts';
import type {
  ConnectionCheck,
  ConnectionRecord,
  ConnectorCheck,
  NewConnectionInput,
} from '../../operations/capabilities/connections.ts';
import { lineOfAtMost, optional } from '../frame/fields.ts';

const readName = lineOfAtMost(200);
const readSecret = lineOfAtMost(8_192);

export function parseNewConnection(body: JsonObject): NewConnectionInput {
  return {
    user: readName(body['user'], 'user'),
    connector: readName(body['connector'], 'connector'),
    name: optional(body['name'], 'name', readName),
    secret: optional(body['secret'], 'secret', readSecret),
  };
}

/** A connection, without its secret. */
export function renderConnection(connection: ConnectionRecord): object {
  return {
    id: connection.id,
    connector: connection.connector,
    name: connection.name,
    user_id: connection.userId,
    username: connection.username,
    state: connection.state,
    last_error: connection.lastError,
    created_at: isoTime(connection.createdAt),
    updated_at: isoTime(connection.updatedAt),
  };
}

export function renderConnectorCheck(check: ConnectorCheck): object {
  const { connector, ok, status, durationMs, error } = check;
  return {
    connector,
    ok,
    status,
    duration_ms: durationMs,
    error,
    connections: check.connections.map(renderConnectionCheck),
  };
}

export function renderConnectionCheck(check: ConnectionCheck): object {
  const { ok, status, durationMs, error } = check;
  return { connection: renderConnection(check.connection), ok, status, duration_ms: durationMs, error };
}
