// Turns a connector's definition into one that can be called: its secret is read on demand and passed nowhere else.
import type { ConnectorDefinition } from '../../catalog/definitions.ts';
import { HEADER_SECRET, readSecret, type SecretLocations } from '../../catalog/reading/secret-file.ts';
import type { Connector, ConnectorAuth } from '../../domain/capabilities/connector.ts';
import { ErrandError } from '../../domain/errors.ts';

/** Throws `unavailable` when the file of the client secret cannot be used. */
export function openConnector(definition: ConnectorDefinition, locations: SecretLocations): Connector {
  const { name, description, baseUrl, methods, paths, caFile } = definition;
  return { name, description, baseUrl, methods, paths, caFile, auth: openAuth(definition, locations) };
}

function openAuth({ name, auth }: ConnectorDefinition, locations: SecretLocations): ConnectorAuth {
  const { kind, header, prefix, tokenUrl, clientId, clientSecretFile, scopes } = auth;
  if (kind === 'token') return { kind, header, prefix };
  const read = clientSecretFile === null ? null : readSecret(clientSecretFile, locations, HEADER_SECRET);
  if (read !== null && !read.ok) {
    throw new ErrandError('unavailable', `The client secret of the connector "${name}" cannot be read.`, {
      cause: new Error(read.why),
    });
  }
  return {
    kind,
    header,
    prefix,
    tokenUrl: tokenUrl ?? '',
    clientId: clientId ?? '',
    clientSecret: read?.secret ?? null,
    scopes,
  };
}
