// A support bundle has what it lists, and neither conversations nor secrets, whatever is planted where.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderTimeline } from '../../../../src/http/sessions/timeline-wire.ts';
import { anExplanation } from '../../../support/store/timelines.ts';
import { tarEntries } from '../../../support/files/archives.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { nodeId } from '../../../support/store/nodes.ts';
import { run, startFakeDaemon } from '../../outside.ts';

const CANARIES = {
  modelKey: 'canary-model-key-5f2b8c',
  header: 'canary-header-71aa90',
  headerFile: 'canary-header-file-03d1',
  schemedFile: 'canary-schemed-file-77e0',
  traceHeader: 'canary-trace-header-40ac',
  mcpEnv: 'canary-mcp-env-9c44e1',
  mcpFile: 'canary-mcp-file-88bb20',
  clientSecret: 'canary-client-secret-6d',
  variable: 'canary-variable-2e7f11',
  proxyVariable: 'canary-proxy-word-31b0',
  proxyFile: 'canary-proxy-file-5c2e',
  masterKey: 'canary-master-bytes-32-long!!!!!',
  password: 'canary-password-c0ffee',
};
/** Known by their form alone. */
const FORMS = {
  apiKey: 'errand_abcd1234_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg',
  loginToken: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ',
  webhookSecret: 'whsec_Y2FuYXJ5LXdlYmhvb2stc2VjcmV0',
  bearer: 'Bearer canary.bearer.token-1',
  signed: '/files/kid1.cGF5bG9hZA.c2lnbmF0dXJl/report.md',
  share: '/share/p/canarysharecode0123456',
  userinfo: 'https://canary-user:canary-word@example.com/',
  query: 'https://example.com/cb?access_token=canary-query-token',
  pem: '-----BEGIN PRIVATE KEY-----\nY2FuYXJ5LXBlbQ==\n-----END PRIVATE KEY-----',
  assigned: 'db_password=canary-assigned-1',
  named: '{"refresh_token":"canary-refresh-token"}',
};
const SPEECH = 'Tell me of tides.';
const MUST_NOT_APPEAR = [
  ...Object.values(CANARIES),
  Buffer.from(CANARIES.modelKey).toString('base64'),
  encodeURIComponent(`${CANARIES.header}/é`).slice(0, 20),
  FORMS.apiKey,
  FORMS.loginToken,
  FORMS.webhookSecret,
  'canary.bearer.token-1',
  'cGF5bG9hZA.c2lnbmF0dXJl',
  'canarysharecode0123456',
  'canary-word',
  'canary-query-token',
  'Y2FuYXJ5LXBlbQ',
  'canary-assigned-1',
  'canary-refresh-token',
  SPEECH,
  'mara',
];

/** A data directory with a secret of every kind, and a log that has all of them. */
function plant(dataDir: string): { configDir: string; log: string } {
  const configDir = join(temporaryDirectory(), 'config');
  mkdirSync(join(configDir, 'plugins', 'p'), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(configDir, name), text);
  write('model.key', `${CANARIES.modelKey}\n`);
  write('header.txt', CANARIES.headerFile);
  write('schemed.txt', `Bearer ${CANARIES.schemedFile}\n`);
  write('traces.txt', `x-house: one\nauthorization: Bearer ${CANARIES.traceHeader}\n`);
  write('proxy.txt', `agent:${CANARIES.proxyFile}\n`);
  write('errand.yaml', 'traces: { headers_file: traces.txt }\negress: { proxy_credentials_file: proxy.txt }\n');
  write('mcp.txt', CANARIES.mcpFile);
  write('client.txt', CANARIES.clientSecret);
  write(
    'models.yaml',
    `endpoints:\n  far: { api_key_file: model.key, headers: { x-house: "${CANARIES.header}" }, header_files: { x-file: header.txt, x-other: schemed.txt } }\n`,
  );
  write(
    'plugins/p/mcp-servers.yaml',
    `servers:\n  s: { env: { A: ${CANARIES.mcpEnv} }, env_files: { B: ${configDir}/mcp.txt } }\n`,
  );
  write('connectors.yaml', 'c: { client_secret_file: client.txt }\n');
  writeFileSync(join(dataDir, 'master.key'), CANARIES.masterKey);
  writeFileSync(join(dataDir, 'first-credentials'), `Password  ${CANARIES.password}\n`);
  const log = join(temporaryDirectory(), 'log');
  const lines = [
    ...Object.values(CANARIES),
    ...Object.values(FORMS),
    Buffer.from(CANARIES.modelKey).toString('base64'),
  ];
  writeFileSync(log, lines.map((line) => `{"level":"info","msg":"called with ${line}"}\n`).join(''));
  return { configDir, log };
}

const EXPLAINED = renderTimeline(
  anExplanation(undefined, { username: 'mara', error: { type: 'api_error', message: SPEECH, retryable: true } }),
);
const settings = [{ name: 'sso.userinfo_url', value: FORMS.userinfo, origin: 'file', source: 'errand.yaml' }];
const WAITING = { run_id: EXPLAINED.run.run_id, username: 'mara', key_id: 'k', reason: 'slots_full' };

const FAILED = { name: 'x', state: 'failed', detail: FORMS.query };
const [NORTH, SOUTH] = [
  { id: nodeId(1), name: 'north' },
  { id: nodeId(2), name: 'south' },
];

const startPlanted = async () => {
  const fake = await startFakeDaemon({
    'GET /api/v1/status': () => ({ version: '1.2.3', node: NORTH, nodes: [NORTH, SOUTH], parts: [FAILED] }),
    'GET /api/v1/configuration': () => ({ config_dir: '/c', problems: [{ message: CANARIES.header }], settings }),
    'GET /api/v1/database': () => ({ schema_version: 22, tables: [{ name: 'runs', rows: 7, more: false }] }),
    'GET /api/v1/queue?limit=50': () => ({ items: [WAITING], total: 1 }),
    'GET /api/v1/runs?status=failed&limit=5': () => ({ items: [EXPLAINED.run], total: 1 }),
    'GET /api/v1/runs?status=incomplete&limit=5': () => ({ items: [], total: 0 }),
    [`GET /api/v1/runs/${EXPLAINED.run.run_id}/timeline`]: () => EXPLAINED,
  });
  return { ...fake, ...plant(fake.dataDir) };
};

test('a bundle has its parts, for its owner only, and nothing that was planted in any form', async () => {
  const { dataDir, configDir, log } = await startPlanted();
  const to = join(temporaryDirectory(), 'bundle.tar.gz');
  const args = ['support-bundle', '--to', to, '--log', log, '--config-dir', configDir, '-o', 'json'];
  const ended = await run(args, {
    dataDir,
    environment: { SERVICE_TOKEN: CANARIES.variable, https_proxy: `agent:${CANARIES.proxyVariable}@proxy.test:3128` },
  });
  expect(ended).toMatchObject({ code: 0 });
  const entries = await tarEntries(readFileSync(to));
  const tar = Object.entries(entries).flat().join('\n');
  const { files, node } = JSON.parse(ended.stdout) as { files: { name: string; fault: string | null }[]; node: object };
  expect(node).toEqual(NORTH);
  for (const { name } of files) expect(tar).toContain(`errand-support/${name}`);
  expect(files.filter(({ fault }) => fault !== null).map(({ name }) => name)).toEqual([]);
  expect(MUST_NOT_APPEAR.filter((secret) => tar.includes(secret) || ended.stdout.includes(secret))).toEqual([]);
  for (const said of [
    '"version": "1.2.3"',
    '"rows": 7',
    'slots_full',
    '12300',
    'called with',
    `of node north (${nodeId(1)})`,
    '"kind": "model"',
  ]) {
    expect(tar).toContain(said);
  }
  expect(statSync(to).mode & 0o777).toBe(0o600);
});

test('of a long log the bundle has whole lines: half a secret would be recognised by nothing', async () => {
  const { dataDir, configDir, log } = await startPlanted();
  // The part that is read begins within the secret of the first line.
  const rest = `${'x'.repeat(999)}\n`.repeat(500);
  const first = `called with ${CANARIES.modelKey}, and so on\n`;
  writeFileSync(log, `${first}${rest}`.padEnd(524_288 + first.indexOf('model-key'), 'y'));
  const to = join(temporaryDirectory(), 'bundle.tar.gz');
  const args = ['support-bundle', '--to', to, '--log', log, '--config-dir', configDir];
  expect(await run(args, { dataDir })).toMatchObject({ code: 0 });
  const tar = Object.entries(await tarEntries(readFileSync(to)))
    .flat()
    .join('\n');
  expect(tar).toContain('x'.repeat(999));
  expect(tar).not.toContain('model-key');
});

test('a bundle is never written over another file', async () => {
  const { dataDir } = await startPlanted();
  const to = join(temporaryDirectory(), 'bundle.tar.gz');
  writeFileSync(to, 'mine');
  expect(await run(['support-bundle', '--to', to], { dataDir })).toMatchObject({ code: 6 });
  expect(readFileSync(to, 'utf8')).toBe('mine');
});

test('without a daemon it ends with 3, and with --offline says what it could not collect', async () => {
  const dataDir = temporaryDirectory();
  const to = join(temporaryDirectory(), 'bundle.tar.gz');
  expect(await run(['support-bundle', '--to', to], { dataDir })).toMatchObject({ code: 3 });
  expect(existsSync(to)).toBe(false);
  const ended = await run(['support-bundle', '--to', to, '--offline', '--log', '/nowhere/log'], { dataDir });
  expect(ended.code).toBe(0);
  const line = (name: string) => ended.stdout.split('\n').find((one) => one.startsWith(name));
  expect(line('status.json')).toContain('not collected: Only a running daemon knows this');
  expect(line('log.txt')).toContain('not collected');
  expect(line('machine.json')).not.toContain('not collected');
});
