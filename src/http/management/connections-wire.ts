// Connections on the wire, as the management API reads and returns them.
import { isoTime } from '../../domain/clock.ts';
import type { ConnectionCheck, ConnectorCheck, NewConnectionInput } from '../../operations/capabilities/connections.ts';
import type { ConnectionRecord } from '../../store/people/connections.ts';
import type {
  ConnectionCheckWire,
  ConnectionWire,
  ConnectorCheckWire,
  NewConnectionWire,
} from '../../wire/capabilities/connection.ts';

export function newConnectionOf({ user, connector, name, secret }: NewConnectionWire): NewConnectionInput {
  return { user, connector, name: name ?? null, secret: secret ?? null };
}

/** A connection, without its secret. */
export function renderConnection(connection: ConnectionRecord): ConnectionWire {
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

export function renderConnectorCheck(check: ConnectorCheck): ConnectorCheckWire {
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

export function renderConnectionCheck(check: ConnectionCheck): ConnectionCheckWire {
  const { ok, status, durationMs, error } = check;
  return { connection: renderConnection(check.connection), ok, status, duration_ms: durationMs, error };
}
