// The endpoints, models and scenarios of models.yaml (J3).
import {
  type CallExtras,
  ENDPOINT_KINDS,
  type EndpointKind,
  NO_EXTRAS,
  STRUCTURED_WAYS,
  type StructuredWay,
} from '../../domain/capabilities/model.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Price } from '../../domain/sessions/usage.ts';
import { EXTRAS_SCHEMA, readExtras } from './call-extras.ts';
import { crossProblems, DEFAULT_CONTEXT_WINDOW, entriesOf, mapOf } from './check-models.ts';
import { CA_FILE, readCaFile } from '../reading/ca-file.ts';
import { inOrder, type Problem } from '../reading/problem.ts';
import { amount, choice, dictionary, flag, integer, orNull, type Schema, section, text } from '../reading/schema.ts';
import { readSecret, type SecretForm, type SecretLocations } from '../reading/secret-file.ts';
import { readYamlFile, type YamlFile } from '../reading/yaml-file.ts';

export const MODELS_FILE = 'models.yaml';

/** A server that serves models. `baseUrl` has no trailing slash and is empty for the offline engine. */
export interface Endpoint {
  readonly name: string;
  readonly kind: EndpointKind;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Absolute path of a PEM file with issuers that are trusted for it in addition. */
  readonly caFile: string | null;
  /** Calls at the same time; null is unlimited. */
  readonly maxInFlight: number | null;
  readonly extras: CallExtras;
}

/** A model by its name in the catalog. `model` is its name at its endpoint; the limits are tokens. */
export interface CatalogModel {
  readonly name: string;
  readonly endpoint: string;
  readonly model: string;
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly images: boolean;
  /** Whether it accepts PDF documents as files. */
  readonly documents: boolean;
  readonly structured: StructuredWay;
  /** Whether it writes its thinking into its text, between `<think>` and `</think>`. */
  readonly thinkingTags: boolean;
  readonly price: Price;
}

/** A model configuration that is assigned to accounts by name (B1). */
export interface Scenario {
  readonly name: string;
  readonly model: string;
}

/** Every reference in it is valid: a model's endpoint, a scenario's model, the default scenario. */
export interface Catalog {
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly models: ReadonlyMap<string, CatalogModel>;
  readonly scenarios: ReadonlyMap<string, Scenario>;
  readonly defaultScenario: string;
}

export type CatalogLoad =
  | { readonly ok: true; readonly catalog: Catalog }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const DEFAULT_MAX_OUTPUT_TOKENS = 4096;

function isBaseUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  // The key has a file of its own, and the path of a call is appended to the address.
  return url.username === '' && url.password === '' && !/[?#]/.test(value);
}

const isFilled = (value: string) => value.trim() !== '';
const reference = (what: string) => text(`the name of ${what}`, isFilled);

const SCHEMA: Schema = section({
  endpoints: dictionary(
    section(
      {
        kind: choice(ENDPOINT_KINDS),
        base_url: text('an http or https address without user, query or fragment', isBaseUrl),
        api_key_file: orNull(text('a path, or credential:NAME', isFilled)),
        ca_file: CA_FILE,
        max_in_flight: orNull(integer(1, 10_000, 'calls')),
        structured: choice(STRUCTURED_WAYS),
        ...EXTRAS_SCHEMA,
      },
      ['kind'],
    ),
  ),
  models: dictionary(
    section(
      {
        endpoint: reference('an endpoint'),
        model: text("the model's name at its endpoint", isFilled),
        context_window: integer(1024, 100_000_000, 'tokens'),
        max_output_tokens: integer(1, 100_000_000, 'tokens'),
        images: flag(),
        documents: flag(),
        structured: choice(STRUCTURED_WAYS),
        thinking_tags: flag(),
        price: section({
          input_per_million_usd: amount(),
          output_per_million_usd: amount(),
          cache_read_per_million_usd: amount(),
          cache_write_per_million_usd: amount(),
        }),
      },
      ['endpoint', 'model'],
    ),
  ),
  scenarios: dictionary(section({ model: reference('a model') }, ['model'])),
  default_scenario: reference('a scenario'),
});

/** With no models.yaml, one scenario on the built-in engine (J3). */
const BUILT_IN: JsonObject = {
  endpoints: { offline: { kind: 'offline' } },
  models: { offline: { endpoint: 'offline', model: 'offline' } },
  scenarios: { general: { model: 'offline' } },
};

// Anything else would break the header that carries the key.
const API_KEY: SecretForm = {
  passes: (secret) => /^[\x21-\x7e]+$/.test(secret),
  mustHold: 'must contain one key on one line',
};

/** The parts of a call to an endpoint that are read from files of their own. */
type Credentials = Pick<Endpoint, 'apiKey' | 'caFile' | 'extras'>;
const NO_CREDENTIALS: Credentials = { apiKey: null, caFile: null, extras: NO_EXTRAS };

/** Keys, trusted issuers and extras by endpoint, and their problems. */
function readCredentials(
  file: YamlFile,
  locations: SecretLocations,
): { credentials: Map<string, Credentials>; problems: Problem[] } {
  const credentials = new Map<string, Credentials>();
  const problems: Problem[] = [];
  for (const [name, endpoint] of entriesOf(file.value, 'endpoints')) {
    const at = ['endpoints', name];
    const reference = endpoint['api_key_file'];
    const isGiven = typeof reference === 'string' && isFilled(reference);
    const read = isGiven ? readSecret(reference, locations, API_KEY) : null;
    if (read?.ok === false) problems.push(file.problemAt([...at, 'api_key_file'], read.why));
    const { extras, problems: wrong } = readExtras({ file, at, endpoint }, locations);
    problems.push(...wrong);
    const trusted = readCaFile(endpoint['ca_file'], locations);
    if (!trusted.ok) problems.push(file.problemAt([...at, 'ca_file'], trusted.why));
    const apiKey = read?.ok === true ? read.secret : null;
    credentials.set(name, { apiKey, caFile: trusted.ok ? trusted.path : null, extras });
  }
  return { credentials, problems };
}

/** Cached input without a price of its own costs what other input does: it is never free by oversight. */
function priceOf(price: JsonObject): Price {
  const perMillion = (key: string, otherwise = 0) =>
    (price[`${key}_per_million_usd`] as number | undefined) ?? otherwise;
  const input = perMillion('input');
  return {
    inputPerMillionUsd: input,
    outputPerMillionUsd: perMillion('output'),
    cacheReadPerMillionUsd: perMillion('cache_read', input),
    cacheWritePerMillionUsd: perMillion('cache_write', input),
  };
}

function buildEndpoint(name: string, endpoint: JsonObject, credentials: Credentials = NO_CREDENTIALS): Endpoint {
  return {
    name,
    kind: endpoint['kind'] as EndpointKind,
    baseUrl: ((endpoint['base_url'] as string | undefined) ?? '').replace(/\/+$/, ''),
    maxInFlight: (endpoint['max_in_flight'] as number | null | undefined) ?? null,
    ...credentials,
  };
}

/** What a model has itself goes before what its endpoint has. */
function structuredOf(model: JsonObject, endpoint: JsonObject): StructuredWay {
  return ((model['structured'] ?? endpoint['structured']) as StructuredWay | undefined) ?? 'tool';
}

function buildModel(name: string, model: JsonObject, endpoints: JsonObject): CatalogModel {
  const contextWindow = (model['context_window'] as number | undefined) ?? DEFAULT_CONTEXT_WINDOW;
  return {
    name,
    endpoint: model['endpoint'] as string,
    model: model['model'] as string,
    contextWindow,
    maxOutputTokens:
      (model['max_output_tokens'] as number | undefined) ?? Math.min(DEFAULT_MAX_OUTPUT_TOKENS, contextWindow),
    images: model['images'] === true,
    documents: model['documents'] === true,
    structured: structuredOf(model, mapOf(endpoints[model['endpoint'] as string])),
    thinkingTags: model['thinking_tags'] === true,
    price: priceOf(mapOf(model['price'])),
  };
}

function build(file: JsonObject, credentials: ReadonlyMap<string, Credentials>): Catalog {
  const collect = <T>(key: string, make: (name: string, value: JsonObject) => T): ReadonlyMap<string, T> =>
    new Map(entriesOf(file, key).map(([name, value]) => [name, make(name, value)]));
  const scenarios = collect('scenarios', (name, { model }): Scenario => ({ name, model: model as string }));
  const [first] = scenarios.keys();
  return {
    endpoints: collect('endpoints', (name, endpoint) => buildEndpoint(name, endpoint, credentials.get(name))),
    models: collect('models', (name, model) => buildModel(name, model, mapOf(file['endpoints']))),
    scenarios,
    defaultScenario: (file['default_scenario'] as string | undefined) ?? (first as string),
  };
}

/**
 * Reads models.yaml and the files of keys and headers that it refers to. Returns all problems at once, or the catalog when
 * there are none. A missing or empty file stands for the built-in engine (J2, J3).
 */
export function loadCatalog(
  configDir: string,
  credentialsDirectory: string | null,
  unresolved?: Set<string>,
): CatalogLoad {
  const file = readYamlFile(configDir, MODELS_FILE, SCHEMA);
  const isEmpty = Object.values(file.value).every((value) => value === null);
  if (isEmpty) return file.problems.length > 0 ? { ok: false, problems: file.problems } : built(BUILT_IN);
  const { credentials, problems } = readCredentials(file, {
    configDir,
    credentialsDirectory,
    ...(unresolved && { unresolved }),
  });
  const all = [...file.problems, ...crossProblems(file), ...problems];
  if (all.length > 0) return { ok: false, problems: inOrder(all) };
  return built(file.value, credentials);
}

function built(file: JsonObject, credentials: ReadonlyMap<string, Credentials> = new Map()): CatalogLoad {
  return { ok: true, catalog: build(file, credentials) };
}
