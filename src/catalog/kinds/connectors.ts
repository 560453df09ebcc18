// Connectors: `connectors.yaml`, the services that users connect to (I4).
import type { JsonObject } from '../../domain/json.ts';
import type { ConnectorAuthDefinition, ConnectorDefinition } from '../definitions.ts';
import { CA_FILE, readCaFile } from '../reading/ca-file.ts';
import type { Problem } from '../reading/problem.ts';
import {
  DESCRIPTION,
  type Located,
  isUnread,
  mapOf,
  NAMING,
  type Reading,
  type Scope,
  textOr,
  textsOf,
} from '../reading/reader.ts';
import { choice, dictionary, list, orNull, type Schema, section, text } from '../reading/schema.ts';
import { HEADER_SECRET, readSecret } from '../reading/secret-file.ts';
import { readYamlFile } from '../reading/yaml-file.ts';

const CONNECTORS_FILE = 'connectors.yaml';
const AUTH_KINDS = ['token', 'oauth2_client_credentials', 'oauth2_refresh_token'] as const;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const isFilled = (value: string) => value.trim() !== '';

function isAddress(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[?#\s]/.test(value);
}

const address = text('an http or https address without user, query or fragment', isAddress);
const AUTH = section(
  {
    kind: choice(AUTH_KINDS),
    header: text('the name of an HTTP header', (value) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(value)),
    prefix: text('up to 64 characters of printable ASCII', (value) => /^[\x20-\x7e]{0,64}$/.test(value)),
    token_url: address,
    client_id: text('a text of up to 500 characters', (value) => isFilled(value) && value.length <= 500),
    client_secret_file: orNull(text('a path, or credential:NAME', isFilled)),
    scopes: list(
      text('a scope without white space', (value) => /^[\x21-\x7e]+$/.test(value)),
      'scopes',
    ),
  },
  ['kind'],
);
const CONNECTOR = section(
  {
    description: DESCRIPTION,
    base_url: address,
    auth: AUTH,
    ca_file: CA_FILE,
    methods: list(choice(METHODS), 'methods'),
    paths: list(
      text('a path such as /v1/*', (value) => /^\/[^?#\s\\]*$/.test(value)),
      'paths',
    ),
  },
  ['description', 'base_url', 'auth'],
);
const SCHEMA: Schema = section({ connectors: dictionary(CONNECTOR, NAMING) });

const OF_OAUTH = ['token_url', 'client_id', 'client_secret_file', 'scopes'];

/** Reads the connectors of the config directory; plugins have no connectors. */
export function readConnectors(scope: Scope): Reading<ConnectorDefinition> {
  const source = readYamlFile(scope.configDir, CONNECTORS_FILE, SCHEMA);
  const problems: Problem[] = [...source.problems];
  const found: Located<ConnectorDefinition>[] = [];
  for (const [name, given] of Object.entries(mapOf(source.value['connectors']))) {
    const at = ['connectors', name];
    const connector = mapOf(given);
    const auth = mapOf(connector['auth']);
    const add = (key: string, message: string, place?: 'key' | 'value') =>
      void problems.push(source.problemAt([...at, 'auth', key], message, place));
    checkAuth(scope, auth, add);
    const trusted = readCaFile(connector['ca_file'], scope);
    if (!trusted.ok) problems.push(source.problemAt([...at, 'ca_file'], trusted.why));
    const caFile = trusted.ok ? trusted.path : null;
    found.push({ thing: toConnector(name, connector, { auth: toAuth(auth), caFile }), source, at });
  }
  return { found, problems, isPartial: isUnread(source) };
}

type Add = (key: string, message: string, place?: 'key' | 'value') => void;

/** The client secret is read to report a missing one, and not kept. */
function checkAuth(scope: Scope, auth: JsonObject, add: Add): void {
  const isOauth = auth['kind'] === 'oauth2_client_credentials' || auth['kind'] === 'oauth2_refresh_token';
  if (auth['kind'] === 'token') {
    for (const key of OF_OAUTH) if (key in auth) add(key, 'must be removed: kind token does not use it', 'key');
  } else if (isOauth) {
    for (const key of ['token_url', 'client_id']) if (!(key in auth)) add(key, 'is missing', 'key');
  }
  const reference = auth['client_secret_file'];
  if (!isOauth || typeof reference !== 'string' || !isFilled(reference)) return;
  const read = readSecret(reference, scope, HEADER_SECRET);
  if (!read.ok) add('client_secret_file', read.why);
}

function toConnector(
  name: string,
  connector: JsonObject,
  read: Pick<ConnectorDefinition, 'auth' | 'caFile'>,
): ConnectorDefinition {
  const methods = textsOf(connector['methods']);
  const paths = textsOf(connector['paths']);
  return {
    name,
    file: CONNECTORS_FILE,
    description: textOr(connector['description'], ''),
    baseUrl: textOr(connector['base_url'], '').replace(/\/+$/, ''),
    ...read,
    methods: methods.length === 0 ? ['GET'] : methods,
    paths: paths.length === 0 ? ['/*'] : paths,
  };
}

function toAuth(auth: JsonObject): ConnectorAuthDefinition {
  return {
    kind: AUTH_KINDS.find((kind) => kind === auth['kind']) ?? 'token',
    header: textOr(auth['header'], 'Authorization'),
    prefix: textOr(auth['prefix'], 'Bearer '),
    tokenUrl: textOr(auth['token_url'], null),
    clientId: textOr(auth['client_id'], null),
    clientSecretFile: textOr(auth['client_secret_file'], null),
    scopes: textsOf(auth['scopes']),
  };
}
