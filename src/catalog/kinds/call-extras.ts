// What an administrator adds to every call of an endpoint: headers, query parameters and fields of the body.
import { type CallExtras, MAX_TOKENS_FIELDS, NO_EXTRAS } from '../../domain/capabilities/model.ts';
import { isDeeperThan, isJsonObject, type JsonObject } from '../../domain/json.ts';
import type { Problem } from '../reading/problem.ts';
import { HEADER_NAMING, HEADER_VALUE, mapOf, textMapOf, textOr } from '../reading/reader.ts';
import { choice, dictionary, type Naming, type Schema, text } from '../reading/schema.ts';
import { HEADER_SECRET, readSecret, type SecretLocations } from '../reading/secret-file.ts';
import type { YamlFile } from '../reading/yaml-file.ts';

const MAX_BODY_CHARACTERS = 16_384;
const MAX_BODY_DEPTH = 16;
/** Fields and headers that the daemon sets itself. */
const OWN_FIELDS = ['model', 'messages', 'system', 'tools', 'stream', ...MAX_TOKENS_FIELDS];
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** The header that carries the key of `api_key_file`, by the kind of endpoint. */
const KEY_HEADERS: Readonly<Record<string, string>> = { openai: 'authorization', anthropic: 'x-api-key' };

const PARAMETER: Naming = {
  pattern: '^[A-Za-z0-9._~-]{1,128}$',
  mustBe: 'must be the name of a query parameter: letters, digits and . _ ~ -',
};

function isExtraBody(value: unknown): boolean {
  if (!isJsonObject(value) || OWN_FIELDS.some((name) => Object.hasOwn(value, name))) return false;
  return !isDeeperThan(value, MAX_BODY_DEPTH) && JSON.stringify(value).length <= MAX_BODY_CHARACTERS;
}

/** The keys of an endpoint that are read here. */
export const EXTRAS_SCHEMA: Readonly<Record<string, Schema>> = {
  headers: dictionary(HEADER_VALUE, HEADER_NAMING),
  header_files: dictionary(
    text('a path, or credential:NAME', (value) => value.trim() !== ''),
    HEADER_NAMING,
  ),
  query: dictionary(
    text('one line of printable ASCII, at most 1,024 characters', (value) => /^[\x20-\x7e]{0,1024}$/.test(value)),
    PARAMETER,
  ),
  max_tokens_field: choice(MAX_TOKENS_FIELDS),
  extra_body: {
    type: ['object', 'null'],
    passes: isExtraBody,
    mustBe: `must be a map of at most ${MAX_BODY_CHARACTERS} characters and ${MAX_BODY_DEPTH} levels, without ${OWN_FIELDS.join(', ')}`,
  },
};

interface EndpointNode {
  readonly file: YamlFile;
  /** Of the endpoint. */
  readonly at: readonly string[];
  readonly endpoint: JsonObject;
}

/** The extras of an endpoint with the secrets of its header files, and their problems. Names are in lower case. */
export function readExtras(
  node: EndpointNode,
  locations: SecretLocations,
): { extras: CallExtras; problems: Problem[] } {
  const { endpoint } = node;
  const problems = misplaced(node);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(textMapOf(endpoint['headers']))) headers[name.toLowerCase()] = value;
  for (const [name, reference] of Object.entries(textMapOf(endpoint['header_files']))) {
    if (reference.trim() === '') continue;
    const read = readSecret(reference, locations, HEADER_SECRET);
    if (read.ok) headers[name.toLowerCase()] = read.secret;
    else problems.push(node.file.problemAt([...node.at, 'header_files', name], read.why));
  }
  const extras: CallExtras = {
    headers,
    query: textMapOf(endpoint['query']),
    maxTokensField: textOr(endpoint['max_tokens_field'], NO_EXTRAS.maxTokensField) as CallExtras['maxTokensField'],
    extraBody: mapOf(endpoint['extra_body']),
  };
  return { extras, problems };
}

/** Keys that this kind of endpoint does not use, and headers that must not be set here, or are set twice. */
function misplaced({ file, at, endpoint }: EndpointNode): Problem[] {
  const kind = textOr(endpoint['kind'], '');
  const useless = kind === 'offline' ? Object.keys(EXTRAS_SCHEMA) : kind === 'anthropic' ? ['max_tokens_field'] : [];
  const problems = useless
    .filter((key) => key in endpoint)
    .map((key) => file.problemAt([...at, key], `must be removed: kind ${kind} does not use it`, 'key'));
  const seen = new Set<string>();
  const hasKey = typeof endpoint['api_key_file'] === 'string';
  for (const key of ['headers', 'header_files']) {
    for (const name of Object.keys(mapOf(endpoint[key]))) {
      const folded = name.toLowerCase();
      const add = (why: string) => problems.push(file.problemAt([...at, key, name], why, 'key'));
      if (OWN_HEADERS.has(folded)) add('must be removed: the daemon sets it');
      else if (seen.has(folded)) add('is set twice');
      else if (hasKey && folded === KEY_HEADERS[kind]) add('is already set by api_key_file');
      seen.add(folded);
    }
  }
  return problems;
}
