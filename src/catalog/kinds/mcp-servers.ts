// MCP servers: `mcp-servers.yaml`, of the config directory or of a plugin.
import path from 'node:path';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { McpServerDefinition, McpTransport } from '../definitions.ts';
import { CA_FILE, readCaFile } from '../reading/ca-file.ts';
import type { Problem } from '../reading/problem.ts';
import {
  type Located,
  fullName,
  HEADER_NAMING,
  HEADER_VALUE,
  isUnread,
  mapOf,
  NAMING,
  type Reading,
  type Scope,
  textMapOf,
  textOr,
  textsOf,
  words,
} from '../reading/reader.ts';
import { dictionary, flag, integer, list, type Naming, orNull, type Schema, section, text } from '../reading/schema.ts';
import { HEADER_SECRET, readSecret, type SecretForm, TEXT_SECRET } from '../reading/secret-file.ts';
import { readYamlFile, type YamlFile } from '../reading/yaml-file.ts';

/** The file's name in its scope. */
export const MCP_SERVERS_FILE = 'mcp-servers.yaml';

const VARIABLE: Naming = {
  pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
  mustBe: 'must be the name of an environment variable',
};
const isFilled = (value: string) => value.trim() !== '';
const secretFile = text('a path, or credential:NAME', isFilled);
const value = text('a text without NUL characters', (given) => !given.includes('\u0000'));

function isServerUrl(given: string): boolean {
  const url = URL.parse(given);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[#\s]/.test(given);
}

const SERVER = section({
  description: words('a description', 1024),
  command: text('a program', (given) => isFilled(given) && !given.includes('\u0000')),
  args: { ...list(value, 'texts', 200), uniqueItems: false, mustBe: 'must be a list of at most 200 texts' },
  env: dictionary(value, VARIABLE),
  env_files: dictionary(secretFile, VARIABLE),
  folders: list(
    text('the path of a folder', (given) => isFilled(given) && !given.includes('\u0000')),
    'folders',
  ),
  network: flag(),
  url: text('an http or https address without user or fragment', isServerUrl),
  headers: dictionary(HEADER_VALUE, HEADER_NAMING),
  header_files: dictionary(secretFile, HEADER_NAMING),
  ca_file: CA_FILE,
  start_timeout_seconds: integer(1, 600, 'seconds'),
  call_timeout_seconds: integer(1, 3600, 'seconds'),
  tools: orNull({ ...list(text('the name of a tool', isFilled), 'names', 200), type: 'array' }),
  enabled_by_default: flag(),
});
const SCHEMA: Schema = section({ servers: dictionary(SERVER, NAMING) });

/** Keys that only one of the two kinds uses. */
const OF_COMMAND = ['args', 'env', 'env_files', 'folders', 'network'];
const OF_URL = ['headers', 'header_files', 'ca_file'];

/** Reads the MCP servers of a scope. Secrets are read to report missing ones, and not kept. */
export function readMcpServers(scope: Scope): Reading<McpServerDefinition> {
  const file = `${scope.prefix}${MCP_SERVERS_FILE}`;
  const source = readYamlFile(scope.configDir, file, SCHEMA);
  const problems: Problem[] = [...source.problems];
  const found: Located<McpServerDefinition>[] = [];
  for (const [name, given] of Object.entries(mapOf(source.value['servers']))) {
    const at = ['servers', name];
    const server = mapOf(given);
    problems.push(...kindProblems(source, at, server), ...secretProblems(scope, { source, at, server }));
    found.push({ thing: toServer(scope, file, { name, server }), source, at });
  }
  return { found, problems, isPartial: isUnread(source) };
}

function kindProblems(source: YamlFile, at: readonly string[], server: JsonObject): Problem[] {
  const [isCommand, isUrl] = ['command' in server, 'url' in server];
  if (isCommand === isUrl) {
    const message = isUrl ? 'must have command or url, not both' : 'must have command or url';
    return [source.problemAt(at, message, 'key')];
  }
  const [foreign, other] = isCommand ? [OF_URL, 'url'] : [OF_COMMAND, 'command'];
  return foreign
    .filter((key) => key in server)
    .map((key) => source.problemAt([...at, key], `must be removed: it belongs to a server with ${other}`, 'key'));
}

interface ServerLocation {
  readonly source: YamlFile;
  readonly at: readonly string[];
  readonly server: JsonObject;
}

const SECRETS: readonly { files: string; values: string; form: SecretForm; fold: (name: string) => string }[] = [
  { files: 'env_files', values: 'env', form: TEXT_SECRET, fold: (name) => name },
  { files: 'header_files', values: 'headers', form: HEADER_SECRET, fold: (name) => name.toLowerCase() },
];

function secretProblems(scope: Scope, { source, at, server }: ServerLocation): Problem[] {
  const problems: Problem[] = [];
  for (const { files, values, form, fold } of SECRETS) {
    const given = new Set(Object.keys(mapOf(server[values])).map(fold));
    for (const [name, reference] of Object.entries(textMapOf(server[files]))) {
      const place = [...at, files, name];
      if (given.has(fold(name))) problems.push(source.problemAt(place, `is also in ${values}`, 'key'));
      const read = isFilled(reference) ? readSecret(reference, scope, form) : null;
      if (read !== null && !read.ok) problems.push(source.problemAt(place, read.why));
    }
  }
  const trusted = readCaFile(server['ca_file'], scope);
  if (!trusted.ok) problems.push(source.problemAt([...at, 'ca_file'], trusted.why));
  return problems;
}

const numberOr = (given: JsonValue | undefined, fallback: number) => (typeof given === 'number' ? given : fallback);

function toServer(
  scope: Scope,
  file: string,
  { name, server }: { readonly name: string; readonly server: JsonObject },
): McpServerDefinition {
  return {
    name: fullName(scope, name),
    file,
    plugin: scope.plugin,
    description: textOr(server['description'], ''),
    transport: transportOf(scope, server),
    startTimeoutMs: numberOr(server['start_timeout_seconds'], 30) * 1_000,
    callTimeoutMs: numberOr(server['call_timeout_seconds'], 120) * 1_000,
    tools: Array.isArray(server['tools']) ? textsOf(server['tools']) : null,
    enabledByDefault: server['enabled_by_default'] === true,
  };
}

function transportOf(scope: Scope, server: JsonObject): McpTransport {
  const { configDir, prefix } = scope;
  const url = server['url'];
  if (typeof url === 'string') {
    const [headers, headerFiles] = [textMapOf(server['headers']), textMapOf(server['header_files'])];
    const trusted = readCaFile(server['ca_file'], scope);
    return { kind: 'http', url, headers, headerFiles, caFile: trusted.ok ? trusted.path : null };
  }
  const absolute = (relative: string) => path.resolve(configDir, prefix, relative);
  return {
    kind: 'stdio',
    command: textOr(server['command'], ''),
    // Servers start in /tmp, where a path relative to the file's folder would not work.
    args: textsOf(server['args']).map((arg) => (arg.startsWith('./') ? absolute(arg) : arg)),
    env: textMapOf(server['env']),
    envFiles: textMapOf(server['env_files']),
    folders: textsOf(server['folders']).map(absolute),
    network: server['network'] === true,
  };
}
