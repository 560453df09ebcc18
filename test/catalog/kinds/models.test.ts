import path from 'node:path';
import { expect, test } from 'vitest';
import { type Catalog, loadCatalog } from '../../../src/catalog/kinds/models.ts';
import { formatProblem } from '../../../src/catalog/reading/problem.ts';
import { NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import { NO_PRICE } from '../../../src/domain/sessions/usage.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

type Files = Readonly<Record<string, string>>;

function load(models: string, files: Files = {}, credentials: string | null = null): Catalog {
  const loaded = loadCatalog(temporaryDirectory({ 'models.yaml': models, ...files }), credentials);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded.catalog;
}

function problemsOf(models: string, files: Files = {}, credentials: string | null = null): string[] {
  const loaded = loadCatalog(temporaryDirectory({ 'models.yaml': models, ...files }), credentials);
  return loaded.ok ? [] : loaded.problems.map(formatProblem);
}

const SMALLEST = `
endpoints:
  local: { kind: openai, base_url: "http://127.0.0.1:11434/v1/" }
models:
  qwen: { endpoint: local, model: "qwen3:14b" }
scenarios:
  general: { model: qwen }
`;

/** The smallest file with one endpoint's further keys. */
const withEndpoint = (keys: string) => SMALLEST.replace('/v1/" }', `/v1", ${keys} }`);

test.each([
  ['no file', {}],
  ['a file of comments', { 'models.yaml': '# models: {}\n' }],
  ['empty sections', { 'models.yaml': 'models:\nscenarios:\n' }],
])('%s gives one scenario on the built-in engine', { tags: ['J3'] }, (_, files) => {
  const loaded = loadCatalog(temporaryDirectory(files), null);
  expect(loaded).toEqual({
    ok: true,
    catalog: {
      endpoints: new Map([
        [
          'offline',
          {
            name: 'offline',
            kind: 'offline',
            baseUrl: '',
            apiKey: null,
            caFile: null,
            maxInFlight: null,
            extras: NO_EXTRAS,
          },
        ],
      ]),
      models: new Map([
        [
          'offline',
          {
            name: 'offline',
            endpoint: 'offline',
            model: 'offline',
            contextWindow: 8192,
            maxOutputTokens: 4096,
            images: false,
            documents: false,
            structured: 'tool',
            thinkingTags: false,
            price: NO_PRICE,
          },
        ],
      ]),
      scenarios: new Map([['general', { name: 'general', model: 'offline' }]]),
      defaultScenario: 'general',
    },
  });
});

test('omitted keys have their defaults', () => {
  const catalog = load(SMALLEST);
  expect(catalog.endpoints.get('local')).toEqual({
    name: 'local',
    kind: 'openai',
    baseUrl: 'http://127.0.0.1:11434/v1',
    apiKey: null,
    caFile: null,
    maxInFlight: null,
    extras: NO_EXTRAS,
  });
  expect(catalog.models.get('qwen')).toMatchObject({
    model: 'qwen3:14b',
    contextWindow: 8192,
    maxOutputTokens: 4096,
    images: false,
    documents: false,
    structured: 'tool',
    price: NO_PRICE,
  });
  expect(catalog.defaultScenario).toBe('general');
});

test('every key of the file is in the catalog', { tags: ['J3'] }, () => {
  const catalog = load(
    `
endpoints:
  a: { kind: anthropic, base_url: "https://models.example/", api_key_file: keys/a, max_in_flight: 4 }
  o: { kind: offline }
models:
  big:
    endpoint: a
    model: big-1
    context_window: 200000
    max_output_tokens: 64000
    images: true
    documents: true
    thinking_tags: true
    price: { input_per_million_usd: 3, output_per_million_usd: 15, cache_read_per_million_usd: 0.3 }
  none: { endpoint: o, model: offline, context_window: 2048 }
scenarios:
  general: { model: big }
  practice: { model: none }
default_scenario: practice
`,
    { 'keys/a': '  sk-test-1\n' },
  );
  expect(catalog.endpoints.get('a')).toEqual({
    name: 'a',
    kind: 'anthropic',
    baseUrl: 'https://models.example',
    apiKey: 'sk-test-1',
    caFile: null,
    maxInFlight: 4,
    extras: NO_EXTRAS,
  });
  expect(catalog.models.get('big')).toEqual({
    name: 'big',
    endpoint: 'a',
    model: 'big-1',
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    images: true,
    documents: true,
    structured: 'tool',
    thinkingTags: true,
    price: {
      inputPerMillionUsd: 3,
      outputPerMillionUsd: 15,
      cacheReadPerMillionUsd: 0.3,
      // Cached input without a price of its own is not free.
      cacheWritePerMillionUsd: 3,
    },
  });
  // The usual limit would be more than the model can hold.
  expect(catalog.models.get('none')?.maxOutputTokens).toBe(2048);
  expect([...catalog.scenarios.values()]).toEqual([
    { name: 'general', model: 'big' },
    { name: 'practice', model: 'none' },
  ]);
  expect(catalog.defaultScenario).toBe('practice');
});

test('all problems are reported at once, those of shape and those of references', () => {
  const problems = problemsOf(`
endpoints:
  local: { kind: openai }
  remote: { kind: openia, base_url: "ftp://x" }
models:
  qwen: { endpoint: locla, model: qwen3, max_output_tokens: 9000 }
  auto: { endpoint: local, model: x, price: { input_per_million_usd: -1 } }
scenarios:
  general: { model: qewn }
  other: { model: qwen, modle: x }
default_scenario: genral
`);
  expect(problems).toEqual([
    'models.yaml:3:3 endpoints.local.base_url: is missing',
    'models.yaml:4:19 endpoints.remote.kind: must be one of openai, anthropic, offline',
    'models.yaml:4:37 endpoints.remote.base_url: must be an http or https address without user, query or fragment',
    'models.yaml:6:21 models.qwen.endpoint: refers to "locla", which is not among the endpoints (did you mean "local"?)',
    'models.yaml:6:61 models.qwen.max_output_tokens: must be at most the context window, 8192',
    'models.yaml:7:3 models.auto: must have another name: "auto" stands for the account\'s model',
    'models.yaml:7:70 models.auto.price.input_per_million_usd: must be a number, zero or more',
    'models.yaml:9:21 scenarios.general.model: refers to "qewn", which is not among the models (did you mean "qwen"?)',
    'models.yaml:10:25 scenarios.other.modle: is not a known key (did you mean "model"?)',
    'models.yaml:11:19 default_scenario: refers to "genral", which is not among the scenarios (did you mean "general"?)',
  ]);
});

test('several scenarios need a default', () => {
  expect(problemsOf(`${SMALLEST}  other: { model: qwen }\n`)).toEqual([
    expect.stringContaining('default_scenario: is missing: there are several scenarios'),
  ]);
});

test('a file that is not empty must be complete', () => {
  expect(problemsOf('endpoints: { o: { kind: offline } }\n')).toEqual([
    'models.yaml:1:1 models: must have at least one entry',
    'models.yaml:1:1 scenarios: must have at least one entry',
  ]);
});

test('structured is taken from the model, else from its endpoint, else it is the tool', () => {
  const ways = (endpoint: string, model: string) => {
    const text = SMALLEST.replace('kind: openai', `kind: openai${endpoint}`).replace(
      'model: "qwen3:14b"',
      `model: q${model}`,
    );
    return load(text).models.get('qwen')?.structured;
  };
  expect(ways('', '')).toBe('tool');
  expect(ways(', structured: json_schema', '')).toBe('json_schema');
  expect(ways('', ', structured: json_schema')).toBe('json_schema');
  expect(ways(', structured: json_schema', ', structured: tool')).toBe('tool');
});

test('structured has two values, and none for the offline engine', () => {
  expect(problemsOf('endpoints: { o: { kind: offline, structured: grammar } }\n')).toContainEqual(
    expect.stringContaining('endpoints.o.structured: must be one of tool, json_schema'),
  );
  expect(problemsOf('endpoints: { o: { kind: offline, structured: tool } }\n')).toContainEqual(
    expect.stringContaining('endpoints.o.structured: must be removed: kind offline does not use it'),
  );
});

test('the offline engine has no address', () => {
  const problems = problemsOf(SMALLEST.replace('kind: openai', 'kind: offline'));
  expect(problems).toEqual([expect.stringContaining('base_url: must be removed')]);
});

test.each(['http://user:secret@host/v1', 'https://host/v1?key=1', 'https://host/#x', 'host:80', '/v1'])(
  'the address %s is refused, and not repeated',
  (url) => {
    const problems = problemsOf(SMALLEST.replace('http://127.0.0.1:11434/v1/', url));
    expect(problems).toEqual([expect.stringContaining('endpoints.local.base_url: must be an http or https address')]);
    expect(problems.join('')).not.toContain('secret');
  },
);

test('a key is read from an absolute path, from the config directory, and from a credential', () => {
  const credentials = temporaryDirectory({ 'openai-key': 'from-credential\n' });
  const absolute = path.join(temporaryDirectory({ key: 'from-afar' }), 'key');
  const keyOf = (reference: string) =>
    load(withEndpoint(`api_key_file: "${reference}"`), { 'near.key': 'from-beside' }, credentials).endpoints.get(
      'local',
    )?.apiKey;
  expect(keyOf(absolute)).toBe('from-afar');
  expect(keyOf('near.key')).toBe('from-beside');
  expect(keyOf('credential:openai-key')).toBe('from-credential');
});

test.each([
  ['nowhere.key', 'refers to a file that does not exist'],
  ['empty.key', 'is empty'],
  ['lines.key', 'must contain one key on one line'],
  ['binary.key', 'must contain one key on one line'],
  ['.', 'is a directory, not a file'],
  ['credential:absent', 'refers to a file that does not exist'],
  ['credential:../near.key', 'must name a credential'],
  ['credential:', 'must name a credential'],
])('the key file %s is a problem: it %s', (reference, why) => {
  const files = {
    'empty.key': ' \n',
    'lines.key': 'secret-1\nsecret-2',
    'binary.key': 'secret\u0000',
    'near.key': 'x',
  };
  const problems = problemsOf(withEndpoint(`api_key_file: "${reference}"`), files, temporaryDirectory());
  expect(problems).toEqual([expect.stringMatching(/^models\.yaml:3:\d+ endpoints\.local\.api_key_file: /)]);
  expect(problems[0]).toContain(why);
  expect(problems[0]).not.toContain('secret');
});

test('a credential without a credentials directory is a problem', () => {
  expect(problemsOf(withEndpoint('api_key_file: "credential:x"'))).toEqual([
    expect.stringContaining('$CREDENTIALS_DIRECTORY is not set'),
  ]);
});

test('names of the prototype are names like any other', () => {
  const catalog = load(
    SMALLEST.replaceAll('qwen:', 'constructor:').replaceAll('model: qwen }', 'model: constructor }'),
  );
  expect(catalog.scenarios.get('general')?.model).toBe('constructor');
  expect(problemsOf(SMALLEST.replace('model: qwen }', 'model: toString }'))).toEqual([
    expect.stringContaining('refers to "toString", which is not among the models'),
  ]);
});

test('an endpoint is given headers, query parameters and fields of the body', { tags: ['J8'] }, () => {
  const keys = [
    'headers: { X-Tenant: house }',
    'header_files: { API-Key: gateway.key }',
    'query: { api-version: "2024-10-21" }',
    'max_tokens_field: max_completion_tokens',
    'extra_body: { reasoning_effort: low, stream_options: null }',
  ];
  const { extras, apiKey } = load(withEndpoint(keys.join(', ')), { 'gateway.key': 'k-of-the-gateway\n' }).endpoints.get(
    'local',
  )!;
  expect(apiKey).toBeNull();
  expect(extras).toEqual({
    headers: { 'x-tenant': 'house', 'api-key': 'k-of-the-gateway' },
    query: { 'api-version': '2024-10-21' },
    maxTokensField: 'max_completion_tokens',
    extraBody: { reasoning_effort: 'low', stream_options: null },
  });
});

const FILES = { 'a.key': 'secret-a', 'two.key': 'secret\nlines' };
test.each([
  ['headers: { "a b": x }', 'headers.a b: must be the name of an HTTP header'],
  ['headers: { x: "a\\nb" }', 'headers.x: must be one line of printable ASCII'],
  ['headers: { Content-Length: "3" }', 'headers.Content-Length: must be removed: the daemon sets it'],
  ['headers: { X-A: x }, header_files: { x-a: a.key }', 'header_files.x-a: is set twice'],
  ['api_key_file: a.key, headers: { Authorization: x }', 'headers.Authorization: is already set by api_key_file'],
  ['header_files: { x: none.key }', 'header_files.x: refers to a file that does not exist'],
  ['header_files: { x: two.key }', 'two.key must contain one line of printable ASCII'],
  ['query: { "a=b": x }', 'query.a=b: must be the name of a query parameter'],
  ['max_tokens_field: max', 'max_tokens_field: must be one of max_tokens, max_completion_tokens'],
  ['extra_body: { messages: [] }', 'extra_body: must be a map'],
  [`extra_body: { x: ${'['.repeat(20)}${']'.repeat(20)} }`, 'extra_body: must be a map'],
])('what can not go with a call is refused at its place: %s', (keys, why) => {
  const problems = problemsOf(withEndpoint(keys), FILES);
  expect(problems).toEqual([expect.stringContaining(why)]);
  expect(problems.join('')).not.toContain('secret');
});

test('extras that a kind of endpoint does not use are refused', () => {
  const anthropic = withEndpoint('max_tokens_field: max_tokens').replace('kind: openai', 'kind: anthropic');
  expect(problemsOf(anthropic)).toEqual([expect.stringContaining('kind anthropic does not use it')]);
  const offline = SMALLEST.replace(
    'kind: openai, base_url: "http://127.0.0.1:11434/v1/"',
    'kind: offline, query: { a: b }',
  );
  expect(problemsOf(offline)).toEqual([expect.stringContaining('kind offline does not use it')]);
});
