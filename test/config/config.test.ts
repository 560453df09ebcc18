import { availableParallelism } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadCatalog } from '../../src/catalog/kinds/models.ts';
import { formatProblem } from '../../src/catalog/reading/problem.ts';
import { type Config, describeSettings, loadConfig } from '../../src/config/config.ts';
import type { Environment, Flags } from '../../src/config/environment.ts';
import { defaultConfigFiles } from '../../src/config/default-config-files.ts';
import { EGRESS_PURPOSES } from '../../src/domain/egress.ts';
import { parseListen, publicUrlFor } from '../../src/config/listen-address.ts';
import { OPTIONS } from '../../src/config/options.ts';
import { environmentName, flagHelp, SETTING_NAMES } from '../../src/config/setting-texts.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

function load(file: string, environment: Environment = {}, flags: Flags = {}): Config {
  const loaded = loadConfig({ configDir: temporaryDirectory({ 'errand.yaml': file }), ...flags }, environment);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded.config;
}

function problemsOf(file: string, environment: Environment = {}, flags: Flags = {}): string[] {
  const loaded = loadConfig({ configDir: temporaryDirectory({ 'errand.yaml': file }), ...flags }, environment);
  return loaded.ok ? [] : loaded.problems.map(formatProblem);
}

test('without any source, every setting has its default, and that is its origin', {
  tags: ['§4.1-rule-1', 'J7'],
}, () => {
  const { settings, origins, workers } = load('');
  expect(settings).toEqual({
    listen: '127.0.0.1:8484',
    database: '',
    databaseFile: '',
    databaseConnections: 12,
    node: { name: '', labels: [] },
    publicUrl: 'http://127.0.0.1:8484',
    tls: { certFile: '', keyFile: '', caFile: '' },
    metrics: { listen: '' },
    retention: {
      eventsDays: 0,
      runsDays: 0,
      auditDays: 0,
      workspacesIdleDays: 0,
      exportsDays: 30,
      firingsDays: 0,
      scheduledSessionsDays: 0,
      throwAwaySessionsDays: 1,
      versionsKeep: 0,
      upgradeCopiesDays: 30,
    },
    traces: { otlpEndpoint: '', headersFile: '', sample: 1 },
    shareOrigin: '',
    trustedProxies: [],
    aliases: true,
    office: { web: true },
    waitTimeoutSeconds: 600,
    maxUploadSizeMb: 20,
    limits: {
      maxTextMb: 4,
      bodiesInFlightMb: 256,
      repliesInFlightMb: 64,
      maxNodes: 100_000,
      connections: 2_000,
      connectionsPerAddress: 200,
    },
    loginTokenTtlSeconds: 86_400,
    sso: {
      provider: '',
      userinfoUrl: '',
      tokenParameter: 'token',
      timeoutMs: 5000,
      defaults: { team: '', functionalRole: '', scenario: '' },
    },
    model: {
      connectTimeoutSeconds: 10,
      firstTokenTimeoutSeconds: 120,
      idleTimeoutSeconds: 60,
      runTimeoutSeconds: 3600,
      maxSteps: 200,
      maxReplyMb: 4,
      patienceSeconds: 120,
    },
    background: {
      queueWaitSeconds: 3600,
      maxUnfinishedPerKey: 20,
      maxExecutingPerKey: 2,
      maxUnfinishedPerUser: 50,
      pollsPerSecond: 10,
      modelPatienceSeconds: 1800,
    },
    userInput: { expiresSeconds: 86_400 },
    webhooks: { retentionDays: 30 },
    blobs: {
      s3: {
        endpoint: '',
        region: 'us-east-1',
        bucket: '',
        prefix: '',
        pathStyle: true,
        keyFile: '',
        caFile: '',
        encryption: '',
        kmsKey: '',
      },
      cacheMb: 10_240,
      redirect: false,
    },
    backup: { directory: '', at: '03:30', keepDays: 14, workspaces: true },
    workers: { threads: Math.min(4, availableParallelism()), runsPerThread: 32, memoryMb: 512, hangTimeoutSeconds: 30 },
    streams: { pingSeconds: 10, heartbeatSeconds: 15, drainSeconds: 30 },
    shell: { enabled: true, timeoutSeconds: 120, maxOutputKb: 1024, memoryMb: 1024, maxProcesses: 256 },
    browser: { enabled: false, executable: '', timeoutSeconds: 30, memoryMb: 1536 },
    workspace: { quotaMb: 2048, userQuotaMb: 0, stickySeconds: 10, checkpoint: 'run' },
    disk: { keepFreeMb: 500 },
    egress: { allow: [], proxy: '', proxyCredentialsFile: '', noProxy: [], proxyResolves: false },
    publish: { maxFiles: 5_000, maxTotalMb: 500, timeZone: 'Asia/Shanghai' },
    artifacts: { deadlineSeconds: 600, maxFileMb: 1024, maxFiles: 50_000, maxTotalMb: 4096 },
    log: { level: 'info' },
  });
  expect(new Set(origins.values())).toEqual(new Set(['default']));
  expect([...origins.keys()]).toEqual(SETTING_NAMES);
  expect(workers).toBe(true);
});

test('a flag wins over the environment, that over the file, and that over the default', {
  tags: ['J2-precedence'],
}, () => {
  const file = 'listen: 127.0.0.1:1\nmax_upload_size_mb: 1\nmodel: { max_steps: 1 }\n';
  const environment = { ERRAND_LISTEN: '127.0.0.1:2', MAX_UPLOAD_SIZE_MB: '2' };
  const { settings, origins } = load(file, environment, { listen: '127.0.0.1:3' });
  expect(settings).toMatchObject({
    listen: '127.0.0.1:3',
    maxUploadSizeMb: 2,
    model: { maxSteps: 1, idleTimeoutSeconds: 60 },
  });
  expect(origins.get('listen')).toBe('flag');
  expect(origins.get('max_upload_size_mb')).toBe('environment');
  expect(origins.get('model.max_steps')).toBe('file');
  expect(origins.get('model.idle_timeout_seconds')).toBe('default');
});

/** What must be set with a setting, or not at all. */
const ENDPOINT = { ERRAND_BLOBS_S3_ENDPOINT: 'https://s3' };
const BUCKET = { ERRAND_BLOBS_S3_BUCKET: 'files' };
const S3_KEY = { ERRAND_BLOBS_S3_KEY_FILE: 'key' };

const TOGETHER: Partial<Record<string, Environment>> = {
  'blobs.s3.endpoint': { ...BUCKET, ...S3_KEY },
  'blobs.s3.bucket': { ...ENDPOINT, ...S3_KEY },
  'blobs.s3.key_file': { ...ENDPOINT, ...BUCKET },
  'sso.provider': { ERRAND_SSO_USERINFO_URL: 'http://sso' },
  'sso.userinfo_url': { ERRAND_SSO_PROVIDER: 'corp' },
  'tls.cert_file': { ERRAND_TLS_KEY_FILE: 'key.pem' },
  'tls.key_file': { ERRAND_TLS_CERT_FILE: 'chain.pem' },
};

test('every setting can be given by the environment and by the file, to the same effect', {
  tags: ['J2-precedence', 'J8'],
}, () => {
  const others: Readonly<Record<string, string>> = {
    listen: '[::1]:9',
    database: 'postgres://u@db.example/errand',
    public_url: 'https://errand.example',
    trusted_proxies: '["10.0.0.0/8", "::1"]',
    share_origin: 'https://shares.example',
    'metrics.listen': '127.0.0.1:9',
    'traces.otlp_endpoint': 'http://127.0.0.1:4318',
    'traces.sample': '0.5',
    'log.level': 'warn',
    aliases: 'false',
    'blobs.redirect': 'true',
    'blobs.s3.endpoint': 'https://s3.example',
    'blobs.s3.bucket': 'errand-files',
    'blobs.s3.prefix': 'errand/',
    'blobs.s3.path_style': 'false',
    'blobs.s3.encryption': 'aws:kms',
    'office.web': 'false',
    'publish.time_zone': 'Europe/Zurich',
    'shell.enabled': 'false',
    'workspace.checkpoint': 'step',
    'backup.directory': '/mnt/backup',
    'backup.at': '23:59',
    'backup.workspaces': 'false',
    'browser.enabled': 'true',
    'browser.executable': '/opt/chromium/chromium',
    'sso.userinfo_url': 'https://sso.example/user?app=errand',
    'sso.timeout_ms': '900',
    'node.labels': '["zone=a", "gpu"]',
    'egress.proxy': 'http://proxy.example:3128',
    'egress.no_proxy': '["intranet.example", "10.0.0.0/8"]',
    'egress.proxy_resolves': 'true',
    'egress.allow': '[{ "host": "Wiki.Example.", "ports": [8080] }, { "cidr": "10.0.0.0/8", "for": ["image"] }]',
  };
  const valueOf = (name: string) => others[name] ?? '9';
  const numeric = {
    'limits.max_nodes': '1999',
    'workers.memory_mb': '199',
    'blobs.cache_mb': '99',
    'shell.memory_mb': '199',
    'browser.memory_mb': '299',
  } as Readonly<Record<string, string>>;
  for (const name of SETTING_NAMES) {
    const value = numeric[name] ?? valueOf(name);
    const scalar = OPTIONS[name].schema['type'] === 'string' ? `"${value}"` : value;
    const yaml = name.split('.').reduceRight((inner, key) => `{ ${key}: ${inner} }`, scalar);
    const other = TOGETHER[name] ?? {};
    const fromFile = load(yaml, other);
    const fromEnvironment = load('', { ...other, [environmentName(name)]: value });
    expect(fromEnvironment.settings, name).toEqual(fromFile.settings);
    expect(fromEnvironment.settings, name).not.toEqual(load('').settings);
    expect(fromEnvironment.origins.get(name)).toBe('environment');
    expect(fromFile.origins.get(name)).toBe('file');
  }
});

test.each([
  ['https://shares.example.com', 'https://shares.example.com'],
  ['HTTPS://Shares.Example.com:443/', 'https://shares.example.com'],
  ['http://[::1]:8485', 'http://[::1]:8485'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
])('the origin of shares %s is %s', (written, origin) => {
  expect(load(`share_origin: "${written}"`).settings.shareOrigin).toBe(origin);
});

test.each([
  'shares.example.com',
  'ftp://shares.example',
  'https://shares.example/base',
  'https://a@shares.example',
  '/',
])('the origin of shares %j is refused', (written) => {
  expect(problemsOf(`share_origin: "${written}"`)).toEqual([
    expect.stringContaining('share_origin: must be an http or https address of a host alone'),
  ]);
});

test.each(['https://errand.example', 'https://ERRAND.example:443', 'http://errand.example'])(
  'shares at %s, which requests cannot tell from the public address, are refused',
  (written) => {
    expect(problemsOf(`public_url: https://errand.example\nshare_origin: "${written}"`)).toEqual([
      'errand.yaml:2:15 share_origin: must have another host than public_url',
    ]);
  },
);

test.each(['0', '86401', '-1', '1.5', '1h', ' 60', '60s'])(
  'a validity of login tokens of %j stops the start',
  { tags: ['§4.1-rule-1', 'B6'] },
  (text) => {
    expect(problemsOf('', { OPENAPI_LOGIN_TOKEN_TTL_SECONDS: text })).toEqual([
      expect.stringContaining('OPENAPI_LOGIN_TOKEN_TTL_SECONDS: must be a whole number of seconds from 1 to 86400'),
    ]);
  },
);

test.each([1, 86_400])(
  'login tokens may be valid for %i seconds',
  { tags: ['§4.1-rule-1', '§8-token-validity'] },
  (seconds) => {
    const { settings } = load('', { OPENAPI_LOGIN_TOKEN_TTL_SECONDS: String(seconds) });
    expect(settings.loginTokenTtlSeconds).toBe(seconds);
    expect(load(`login_token_ttl_seconds: ${seconds}`).settings).toEqual(settings);
  },
);

test('single sign-on is read completely, with its defaults for accounts', () => {
  const file = `
sso:
  provider: corp
  userinfo_url: https://sso.example/user?app=errand
  token_parameter: ticket
  timeout_ms: 900
  defaults: { team: Labs, functional_role: analyst, scenario: general }
`;
  expect(load(file).settings.sso).toEqual({
    provider: 'corp',
    userinfoUrl: 'https://sso.example/user?app=errand',
    tokenParameter: 'ticket',
    timeoutMs: 900,
    defaults: { team: 'Labs', functionalRole: 'analyst', scenario: 'general' },
  });
});

test('each mistake in the sso section is reported at its place', () => {
  const file = `
sso:
  provider: 7
  userinfo_url: ftp://sso.example
  token_parameter: "a b"
  timeout_ms: 99
  defaults: { role: admin, team: [Labs] }
`;
  expect(problemsOf(file)).toEqual([
    'errand.yaml:3:13 sso.provider: must be the name of a provider, at most 64 characters, not a number',
    'errand.yaml:4:17 sso.userinfo_url: must be an http or https address without user or fragment',
    'errand.yaml:5:20 sso.token_parameter: must be the name of a query parameter, at most 64 characters',
    'errand.yaml:6:15 sso.timeout_ms: must be a whole number of milliseconds from 100 to 60000',
    'errand.yaml:7:15 sso.defaults.role: is not a known key',
    "errand.yaml:7:34 sso.defaults.team: must be a team's name, or empty, not a list",
  ]);
  const half = 'must have both provider and userinfo_url, or neither';
  expect(problemsOf('sso:\n  provider: corp\n')).toEqual([`errand.yaml:2:3 sso: ${half}`]);
  expect(problemsOf('', { ERRAND_SSO_USERINFO_URL: 'https://sso.example' })).toEqual([`errand.yaml:1:1 sso: ${half}`]);
});

test('names in the environment follow from those in the file, but two keep their own', () => {
  expect(environmentName('model.idle_timeout_seconds')).toBe('ERRAND_MODEL_IDLE_TIMEOUT_SECONDS');
  expect(environmentName('public_url')).toBe('ERRAND_PUBLIC_URL');
  expect(environmentName('sso.defaults.team')).toBe('ERRAND_SSO_DEFAULTS_TEAM');
  expect(environmentName('max_upload_size_mb')).toBe('MAX_UPLOAD_SIZE_MB');
  expect(environmentName('login_token_ttl_seconds')).toBe('OPENAPI_LOGIN_TOKEN_TTL_SECONDS');
});

test('all problems of file, environment and flags are reported at once', { tags: ['J2-problems'] }, () => {
  const file = 'listen: 8484\nmodel:\n  idle_timeout: 5\n  max_steps: 0\n';
  const environment = { ERRAND_WORKERS_THREADS: 'many', ERRAND_SHELL_ENABLED: 'yes', ERRAND_LOG_LEVEL: 'loud' };
  expect(problemsOf(file, environment, { publicUrl: 'errand.example' })).toEqual([
    'errand.yaml:1:9 listen: must be HOST:PORT, such as 127.0.0.1:8484 or [::1]:8484, the port at most 65535, or unix:/path, the path at most 107 bytes, not a number',
    'errand.yaml:3:3 model.idle_timeout: is not a known key',
    'errand.yaml:4:14 model.max_steps: must be a whole number from 1 to 10000',
    '--public-url: must be an http or https address without user, query or fragment',
    'ERRAND_WORKERS_THREADS: must be a whole number from 1 to 256, not text',
    'ERRAND_SHELL_ENABLED: must be true or false, not text',
    'ERRAND_LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal',
  ]);
});

test('a bad value in the file is reported even when a flag overrides it', () => {
  expect(problemsOf('listen: nowhere\n', {}, { listen: '127.0.0.1:1' })).toHaveLength(1);
});

test.each(['1e3', '0x10', '-1', '600.5', ' 600', '99999999999999999999'])(
  'the number %j in the environment is refused',
  (text) => {
    expect(problemsOf('', { ERRAND_WAIT_TIMEOUT_SECONDS: text })).toEqual([
      expect.stringContaining('ERRAND_WAIT_TIMEOUT_SECONDS: must be a whole number of seconds from 1 to 86400'),
    ]);
  },
);

test('an empty variable counts as unset, and one of the platform is ignored', () => {
  const { settings } = load('', {
    ERRAND_LISTEN: '',
    ERRAND_PORT: 'tcp://10.0.0.1:80',
    ERRAND_SERVICE_HOST: '10.0.0.1',
  });
  expect(settings.listen).toBe('127.0.0.1:8484');
});

test('the public address follows from the listening address unless it is given', () => {
  expect(load('listen: 127.0.0.1:9000').settings.publicUrl).toBe('http://127.0.0.1:9000');
  expect(load('listen: 127.0.0.1:9000\npublic_url: https://errand.example/base/').settings.publicUrl).toBe(
    'https://errand.example/base',
  );
  expect(publicUrlFor({ listen: '0.0.0.0:80', isSecure: false })).toBe('http://127.0.0.1:80');
  expect(publicUrlFor({ listen: '[::]:80', isSecure: false })).toBe('http://[::1]:80');
  expect(publicUrlFor({ listen: 'errand.local:80', isSecure: false })).toBe('http://errand.local:80');
  expect(publicUrlFor({ listen: 'unix:/run/errand/http.sock', isSecure: false })).toBe('http://localhost');
});

test('TLS needs both of its files and a TCP address, and makes the public address https', () => {
  const tls = 'tls: { cert_file: chain.pem, key_file: "credential:tls-key" }\n';
  expect(load(`${tls}listen: 127.0.0.1:9000`).settings).toMatchObject({
    tls: { certFile: 'chain.pem', keyFile: 'credential:tls-key' },
    publicUrl: 'https://127.0.0.1:9000',
  });
  expect(load(`${tls}public_url: https://errand.example`).settings.publicUrl).toBe('https://errand.example');
  expect(problemsOf('tls: { cert_file: chain.pem }\n')).toEqual([
    'errand.yaml:1:6 tls: must have both cert_file and key_file, or neither',
  ]);
  expect(problemsOf(`${tls}listen: "unix:/run/errand/http.sock"\n`)).toEqual([
    'errand.yaml:1:6 tls: must be empty where listen is a Unix socket: its proxy speaks TLS',
  ]);
});

test.each([
  ['127.0.0.1:8484', { kind: 'tcp', host: '127.0.0.1', port: 8484 }],
  ['[::1]:0', { kind: 'tcp', host: '::1', port: 0 }],
  ['localhost:65535', { kind: 'tcp', host: 'localhost', port: 65_535 }],
  ['127.0.0.1', null],
  [':8484', null],
  ['::1:8484', null],
  ['[nonsense]:1', null],
  ['256.0.0.1:1', null],
  ['localhost:65536', null],
  ['localhost:80/', null],
  ['unix:/run/errand/http.sock', { kind: 'unix', path: '/run/errand/http.sock', mode: 0o666 }],
  ['unix:http.sock', null],
  ['unix:/run/errand/', null],
  [`unix:/${'x'.repeat(106)}`, { kind: 'unix', path: `/${'x'.repeat(106)}`, mode: 0o666 }],
  [`unix:/${'x'.repeat(107)}`, null],
])('%s as a listening address', (listen, parts) => {
  expect(parseListen(listen)).toEqual(parts);
});

test('exceptions for outgoing requests are for every port and purpose unless they say otherwise', () => {
  const { settings } = load(
    'egress: { allow: [{ host: "*.bücher.example" }, { cidr: fd00::/8, ports: [1, 2], for: [mcp] }] }',
  );
  expect(settings.egress.allow).toEqual([
    { cidr: null, host: '*.xn--bcher-kva.example', ports: null, for: EGRESS_PURPOSES },
    { cidr: 'fd00::/8', host: null, ports: [1, 2], for: ['mcp'] },
  ]);
});

test('each mistake in an exception is reported at its place', () => {
  const file = `egress:
  allow:
    - { host: 10.0.0.1 }
    - { cidr: 10.0.0.0/33 }
    - { cidr: 10.0.0.0/8, host: a.example }
    - { ports: [80] }
    - { host: a.example, port: 80 }
    - { host: a.example, ports: [0] }
    - { host: a.example, ports: 80 }
    - { host: a.example, for: [images] }
    - { host: a.example, for: [] }
    - intranet
`;
  const either = 'must be a map with either cidr or host, and optionally ports and for';
  expect(problemsOf(file)).toEqual([
    'errand.yaml:3:15 egress.allow.0.host: must be a name such as wiki.example.com or *.example.com; addresses belong in cidr',
    'errand.yaml:4:15 egress.allow.1.cidr: must be a range of addresses, such as 10.0.0.0/8 or fd00::/8, or one address',
    `errand.yaml:5:7 egress.allow.2: ${either}`,
    `errand.yaml:6:7 egress.allow.3: ${either}`,
    'errand.yaml:7:26 egress.allow.4.port: is not a known key (did you mean "ports"?)',
    'errand.yaml:8:34 egress.allow.5.ports.0: must be a whole number from 1 to 65535',
    'errand.yaml:9:33 egress.allow.6.ports: must be a list of at most 100 ports from 1 to 65535, without duplicates, not a number',
    'errand.yaml:10:32 egress.allow.7.for.0: must be one of image, web_fetch, mcp, connector, webhook',
    'errand.yaml:11:31 egress.allow.8.for: must be a list of at most 100 purposes (image, web_fetch, mcp, connector, webhook), without duplicates',
    `errand.yaml:12:7 egress.allow.9: ${either}, not text`,
  ]);
  expect(problemsOf('', { ERRAND_EGRESS_ALLOW: 'intranet' })).toEqual([
    'ERRAND_EGRESS_ALLOW: must be a list of at most 200 exceptions, without duplicates, not text',
  ]);
});

test('a data directory whose path is too long for a socket is a problem with advice', () => {
  const dataDir = `/${'d'.repeat(94)}`;
  expect(problemsOf('', {}, { dataDir })).toEqual([]);
  expect(problemsOf('', {}, { dataDir: `${dataDir}é` })).toEqual([
    `${dataDir}é/errand.sock: is 109 bytes long, and a socket's path can have at most 107; choose a shorter data directory`,
  ]);
});

test('an address is shown without the values of its parameters', () => {
  const config = load(
    'sso: { provider: corp, userinfo_url: "https://sso.example/me?app=errand&client_secret=open-sesame" }',
  );
  const row = describeSettings(config).find(({ name }) => name === 'sso.userinfo_url');
  expect(row?.value).toBe('https://sso.example/me?app=[removed]&client_secret=[removed]');
  expect(config.settings.sso.userinfoUrl).toContain('open-sesame');
});

test('the address of a database is shown without its password', () => {
  const config = load('database: "postgres://errand:open-sesame@db.example.com/errand"');
  const row = describeSettings(config).find(({ name }) => name === 'database');
  expect(row?.value).toBe('postgres://errand:[removed]@db.example.com/errand');
});

test('a setting is shown with its value, its origin and its source', { tags: ['J2-precedence'] }, () => {
  const config = load(
    'model: { max_steps: 7 }',
    { ERRAND_LOG_LEVEL: 'warn' },
    { listen: '127.0.0.1:1', noWorkers: true },
  );
  const rows = new Map(describeSettings(config).map((row) => [row.name, row]));
  expect([...rows.keys()]).toEqual(SETTING_NAMES);
  expect(rows.get('listen')).toMatchObject({ value: '127.0.0.1:1', origin: 'flag', source: '--listen' });
  expect(rows.get('log.level')).toMatchObject({ value: 'warn', origin: 'environment', source: 'ERRAND_LOG_LEVEL' });
  expect(rows.get('model.max_steps')).toMatchObject({
    value: 7,
    origin: 'file',
    source: path.join(config.locations.configDir, 'errand.yaml'),
  });
  expect(rows.get('shell.enabled')).toMatchObject({
    value: true,
    origin: 'default',
    source: null,
    environment: 'ERRAND_SHELL_ENABLED',
  });
  expect(config.workers).toBe(false);
});

/** A default file with its settings switched on: the lines whose `#` is followed by a key. */
const switchedOn = (text: string) => text.replaceAll(/^#( *[a-z0-9_]+:)/gm, '$1');
const defaultFile = (name: string) => defaultConfigFiles().find((file) => file.name === name)?.text ?? '';

test('the default files say nothing, so a new directory has the defaults', () => {
  expect(load(defaultFile('errand.yaml')).settings).toEqual(load('').settings);
  const files = Object.fromEntries(defaultConfigFiles().map(({ name, text }) => [name, text]));
  expect(loadCatalog(temporaryDirectory(files), null)).toEqual(loadCatalog(temporaryDirectory(), null));
});

test("a flag's help is the first sentence of its setting's", () => {
  expect(flagHelp('listen')).toBe('address to listen on, as HOST:PORT, or unix:/path for a Unix socket');
  expect(flagHelp('public_url')).toBe('base URL that clients use');
});

test('errand.yaml shows every setting with its default', { tags: ['J7'] }, () => {
  const text = switchedOn(defaultFile('errand.yaml'));
  const { settings, origins } = load(text);
  const defaults = load('').settings;
  // The one default that follows from the machine.
  expect(settings).toEqual({ ...defaults, workers: { ...defaults.workers, threads: 4 } });
  expect([...origins].filter(([, origin]) => origin !== 'file')).toEqual([]);
});

test('models.yaml shows every key, and works when switched on', () => {
  const loaded = loadCatalog(temporaryDirectory({ 'models.yaml': switchedOn(defaultFile('models.yaml')) }), null);
  expect(loaded).toMatchObject({ ok: true, catalog: { defaultScenario: 'general' } });
  for (const key of [
    'api_key_file',
    'headers',
    'header_files',
    'query',
    'max_tokens_field',
    'extra_body',
    'max_in_flight',
    'context_window',
    'max_output_tokens',
    'images',
    'cache_write_per_million_usd',
  ]) {
    expect(defaultFile('models.yaml')).toMatch(new RegExp(`^# *${key}: `, 'm'));
  }
});
