// The secrets of this installation that whoever calls the program can read: so that none gets into a bundle by accident.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import type { Environment } from '../../config/environment.ts';
import type { Locations } from '../../config/locations.ts';
import { readWayVariables } from '../../config/read-ways.ts';
import { secretsOfProxies } from '../../outbound/secrets/proxy-secrets.ts';
import { readProxy } from '../../outbound/ways/proxy-rules.ts';
import { secretsIn as partsOfSecret } from '../../outbound/secrets/redact.ts';
import { isSecretName } from '../../outbound/secrets/blot.ts';
import { secretsInArguments } from '../../outbound/secrets/written-secrets.ts';

const MAX_FILES = 500;
const MAX_DEPTH = 4;
const MAX_BYTES = 262_144;
const MAX_SECRETS = 200;

/** Maps whose values may be secret, whatever the names in them are; those of the second kind name files. */
const VALUES = new Set(['headers', 'env', 'query', 'extra_body']);
const FILES = /_files?$/;
/** Names of files whose lines have the secret after a colon: headers, and a user with a password. */
const WITH_NAMES: ReadonlySet<string> = new Set(['headers_file', 'proxy_credentials_file']);

/** All that can be read: values and files of the config directory, variables, the master key, the first credentials. */
export function knownSecrets(locations: Locations, environment: Environment): string[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(environment)) if (value && isSecretName(name)) found.add(value);
  for (const secret of secretsOfProxies(proxiesIn(environment))) found.add(secret);
  for (const file of yamlFilesIn(locations.configDir, MAX_DEPTH).slice(0, MAX_FILES)) {
    for (const secret of secretsIn(parsed(file), locations)) found.add(secret);
  }
  for (const word of (read(join(locations.dataDir, 'first-credentials')) ?? '').split(/\s+/)) {
    if (word.length >= 10 && !word.includes('/')) found.add(word);
  }
  for (const form of formsOfKey(locations.masterKeyPath)) found.add(form);
  return [...found].filter(({ length }) => length >= 6).slice(0, MAX_SECRETS);
}

/** Those that the variables for proxies contain. */
function proxiesIn(environment: Environment) {
  const { httpProxy, httpsProxy } = readWayVariables((name) => environment[name] || null);
  const proxyIn = (text: string | null) => {
    const read = text === null ? null : readProxy(text);
    return read?.ok ? read.proxy : null;
  };
  return { proxies: { 'http:': proxyIn(httpProxy), 'https:': proxyIn(httpsProxy) } };
}

function yamlFilesIn(directory: string, depth: number): string[] {
  const entries = attempt(() => readdirSync(directory, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return depth === 0 ? [] : yamlFilesIn(path, depth - 1);
    return entry.isFile() && /\.ya?ml$/.test(entry.name) ? [path] : [];
  });
}

function* secretsIn(
  value: unknown,
  locations: Locations,
  name = '',
  above: 'values' | 'files' | null = null,
): Generator<string> {
  if (typeof value === 'string') {
    if (above === 'files' || FILES.test(name)) yield* secretOfFile(name, value, locations);
    else if (above === 'values' || isSecretName(name)) yield* partsOfSecret(value);
    else if (/^https?:.*\?/.test(value)) yield* URL.parse(value)?.searchParams.values() ?? [];
    return;
  }
  if (value === null || typeof value !== 'object') return;
  if (name === 'args' && Array.isArray(value))
    yield* secretsInArguments(value.filter((arg): arg is string => typeof arg === 'string'));
  const kind = above ?? (VALUES.has(name) ? 'values' : FILES.test(name) ? 'files' : null);
  for (const [key, part] of Object.entries(value))
    yield* secretsIn(part, locations, Array.isArray(value) ? name : key, kind);
}

function* secretOfFile(name: string, named: string, { configDir, credentialsDirectory }: Locations): Generator<string> {
  const credential = named.startsWith('credential:') ? named.slice('credential:'.length) : null;
  const base = credential === null ? configDir : credentialsDirectory;
  if (base === null) return;
  const path = credential ?? named;
  const secret = read(isAbsolute(path) ? path : join(base, path))?.trim();
  if (!secret) return;
  yield secret;
  // Certificates and keys have a form of their own; of a header, the service gets and repeats a part.
  const lines = WITH_NAMES.has(name) ? secret.split('\n').map((line) => line.slice(line.indexOf(':') + 1)) : [secret];
  for (const line of lines) if (!line.trim().includes('\n')) yield* partsOfSecret(line.trim());
}

function formsOfKey(path: string): string[] {
  const bytes = attempt(() => readFileSync(path));
  if (bytes === undefined || bytes.length > MAX_BYTES) return [];
  return [bytes.toString('utf8').trim(), bytes.toString('hex'), bytes.toString('base64url')];
}

function parsed(file: string): unknown {
  const text = read(file);
  return text === undefined ? undefined : attempt(() => parse(text) as unknown);
}

function read(path: string): string | undefined {
  return attempt(() => (statSync(path).size > MAX_BYTES ? undefined : readFileSync(path, 'utf8')));
}

/** What can't be read is no help to whoever reads the bundle either. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
