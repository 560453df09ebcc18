// A daemon in a company's network: servers behind a private CA, and everything outside behind a proxy.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type DaemonOptions, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { freePort } from '../../support/http/free-port.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { makeCertificate } from '../../support/http/certificates.ts';
import { startConnectProxy } from '../../support/http/connect-proxy.ts';
import { openOtlpReceiver } from '../../support/http/otlp-receiver.ts';
import { startTlsFront } from '../../support/http/tls-front.ts';
import { startWebServer } from '../../support/http/web-server.ts';
import { startMcpHttp } from '../../support/mcp/mcp-http.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import type { ExaminationWire } from '../../../src/wire/doctor.ts';

const root = makeCertificate('Corp Root CA');
const MISSING =
  'is issued by "Corp Root CA", which is not trusted: add the certificate of that issuer to a file that tls.ca_file';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, whatever that is. */
async function ended(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return runErrand(args, { env }).then(
    (done) => ({ code: 0, ...done }),
    (failed: Ended) => failed,
  );
}

/** A daemon for this test. */
async function start(options: DaemonOptions) {
  const daemon = await startDaemonProcess(options);
  onTestFinished(() => daemon.close());
  const doctor = async (id: string) => {
    const { checks } = (await daemon.admin('POST', '/api/v1/doctor', {})) as ExaminationWire;
    return checks.find((check) => check.id === id)!;
  };
  const errand = (...args: readonly string[]) => ended([...args, '--data-dir', daemon.dataDir]);
  const turn = () => takeTurn(daemon, { content: 'Hi' });
  return { daemon, doctor, errand, turn };
}

async function secureModel(): Promise<string> {
  const model = await startModelServer({ record: false });
  onTestFinished(() => model.close());
  return `https://localhost:${await startTlsFront(makeCertificate('localhost', { issuer: root }), model.port)}`;
}

test('a model behind a private CA is named with its issuer, and works once that is trusted', async () => {
  const directory = temporaryDirectory({ 'ca.pem': root.cert, 'text.pem': 'no certificate' });
  const [bundle, text] = [join(directory, 'ca.pem'), join(directory, 'text.pem')];
  const { daemon, doctor, errand, turn } = await start({ modelServerUrl: await secureModel() });
  expect((await turn()).error?.message).toContain(`The certificate of localhost ${MISSING}`);
  expect(await doctor('models')).toMatchObject({
    state: 'failed',
    evidence: expect.stringContaining(MISSING),
    remedy: expect.stringMatching(/^errand config set tls\.ca_file /),
  });
  expect((await errand('models', 'check', 'scripted')).stdout.replaceAll(/\s+/g, ' ')).toContain('"Corp Root CA"');

  writeFileSync(join(daemon.configDir, 'errand.yaml'), `tls: { ca_file: ${text} }\n`);
  const checked = await errand('config', 'check');
  expect(checked.code).not.toBe(0);
  expect(checked.stdout + checked.stderr).toContain(
    `tls.ca_file refers to a file that can't be used: ${text} is no CA bundle: it contains no certificate in PEM form`,
  );
  await waitFor(() => daemon.stderr().includes('is no CA bundle'));
  expect(await doctor('configuration')).toMatchObject({ state: 'failed', evidence: expect.stringContaining(text) });

  writeFileSync(join(daemon.configDir, 'errand.yaml'), `tls: { ca_file: ${bundle} }\n`);
  await waitFor(async () => (await turn()).status === 200);
  expect(await doctor('models')).toMatchObject({ state: 'ok' });
  expect((await errand('models', 'check', 'scripted')).stdout).not.toContain('Corp Root CA');
});

test('what the trust store of the system has is trusted without a setting', async () => {
  const store = join(temporaryDirectory({ 'store.pem': root.cert }), 'store.pem');
  const { turn } = await start({ modelServerUrl: await secureModel(), env: { SSL_CERT_FILE: store } });
  expect(await turn()).toMatchObject({ status: 200, error: null });
});

test('a file of issuers that is none, and a SOCKS proxy, end the start with words', async () => {
  const dataDir = join(temporaryDirectory(), 'data');
  const serve = (env: Record<string, string>) =>
    ended(['serve', '--data-dir', dataDir, '--listen', `127.0.0.1:0`], env);
  const untrusted = await serve({ ERRAND_TLS_CA_FILE: '/etc/hostname' });
  expect(untrusted.code).not.toBe(0);
  expect(untrusted.stderr).toContain('/etc/hostname is no CA bundle');
  const socks = await serve({ HTTPS_PROXY: 'socks5h://user:hidden@127.0.0.1:1080' });
  expect(socks.code).not.toBe(0);
  expect(socks.stderr).toContain('HTTPS_PROXY names a SOCKS proxy, which is not supported');
  expect(socks.stderr).not.toContain('hidden');
});

const [HOOK, TOOLS] = ['93.184.216.34', '93.184.216.35'];
const PASSWORD = 's3cret-of-the-proxy';
const YAML = `
model: { patience_seconds: 0 }
sso: { provider: corp, userinfo_url: "http://sso.test/user", timeout_ms: 20000 }
traces: { otlp_endpoint: "http://traces.test:4318" }
`;

/** Servers of the outside, and a proxy that leads to them. */
async function outside() {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const hook = await startWebServer((_req, res) => void res.writeHead(204).end());
  const sso = await startWebServer((_req, res) => void res.end(JSON.stringify({ data: { empNo: 'e-7' } })));
  const traces = await openOtlpReceiver();
  const tools = await startMcpHttp();
  onTestFinished(() => tools.close());
  const leads = {
    'models.test:8000': model.port,
    'sso.test:80': sso.port,
    'traces.test:4318': Number(new URL(traces.url).port),
    [`${HOOK}:80`]: hook.port,
    [`${TOOLS}:80`]: tools.port,
  };
  return { leads, hook, traces };
}

test('models, sign-on, traces, webhooks and tool servers go through the proxy, and its password stays there', async () => {
  const { leads, hook, traces } = await outside();
  const proxy = await startConnectProxy({ leads });
  const address = `http://agent:${PASSWORD}@127.0.0.1:${proxy.port}`;
  const { daemon, doctor, errand, turn } = await start({
    modelServerUrl: 'http://models.test:8000',
    errandYaml: YAML,
    env: { http_proxy: address, HTTPS_PROXY: address },
  });
  const serversFile = join(daemon.configDir, 'mcp-servers.yaml');
  writeFileSync(serversFile, JSON.stringify({ servers: { remote: { url: `http://${TOOLS}/mcp` } } }));
  await waitFor(async () => (await errand('mcp', 'check', 'remote')).code === 0);

  expect(await turn()).toMatchObject({ status: 200, error: null });
  expect((await login(daemon.url)).status).toBe(200);
  const webhook = { name: 'Ledger', url: `http://${HOOK}/hook`, events: ['session.completed'], owner_scope: 'system' };
  const { id } = (await daemon.admin('POST', '/api/v1/webhooks', webhook)) as { id: number };
  expect((await errand('webhooks', 'test', String(id), '--event', 'session.completed')).code).toBe(0);
  expect(hook.hits.map(({ path }) => path)).toContain('/hook');
  await waitFor(() => traces.spans.length > 0);
  expect(await doctor('models')).toMatchObject({ state: 'ok' });
  await expect(daemon.admin('POST', '/api/v1/webhooks', { ...webhook, url: 'http://10.0.0.7/' })).rejects.toThrow(
    '400',
  );

  const asked = new Set(proxy.tunnels.map(({ target }) => target));
  expect([...asked].sort()).toEqual(Object.keys(leads).sort());
  const sent = `Basic ${Buffer.from(`agent:${PASSWORD}`).toString('base64')}`;
  expect(new Set(proxy.tunnels.map(({ headers }) => headers['proxy-authorization']))).toEqual(new Set([sent]));
  const shown = [daemon.stderr(), (await errand('config', 'show')).stdout, (await errand('doctor')).stdout].join('');
  for (const secret of [PASSWORD, sent.slice(6)]) expect(shown).not.toContain(secret);
});

/** A single sign-on. */
async function login(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const body = JSON.stringify({ grant_type: 'sso_token', provider: 'corp', sso_token: 'pia' });
  const reply = await fetch(`${url}/openapi/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return { status: reply.status, text: await reply.text() };
}

test('a proxy that is down, or never answers, fails each part with its name', async () => {
  const down = `127.0.0.1:${await freePort()}`;
  const { daemon, doctor, errand, turn } = await start({
    modelServerUrl: 'http://models.test:8000',
    errandYaml: `${YAML}egress: { proxy: "http://${down}" }\n`,
  });
  const refused = `The proxy ${down} can't be reached (ECONNREFUSED)`;
  expect((await turn()).error?.message).toContain(refused);
  expect(await doctor('models')).toMatchObject({ state: 'failed', evidence: expect.stringContaining(refused) });
  expect(await login(daemon.url)).toMatchObject({ status: 502, text: expect.stringContaining(refused) });
  const webhook = { name: 'Ledger', url: `http://${HOOK}/hook`, events: ['session.completed'], owner_scope: 'system' };
  const { id } = (await daemon.admin('POST', '/api/v1/webhooks', webhook)) as { id: number };
  expect(
    (await errand('webhooks', 'test', String(id), '--event', 'session.completed')).stdout.replaceAll(/\s+/g, ' '),
  ).toContain(down);
  await waitFor(() => daemon.stderr().includes(`traces`) && daemon.stderr().includes(refused));

  const silent = await startConnectProxy({ status: null });
  const slow = YAML.replace('patience_seconds: 0', 'patience_seconds: 0, connect_timeout_seconds: 1');
  const yaml = `${slow.replace('20000', '1000')}egress: { proxy: "${silent.url}" }\n`;
  writeFileSync(join(daemon.configDir, 'errand.yaml'), yaml);
  await waitFor(async () =>
    (await login(daemon.url)).text.includes(`through the proxy 127.0.0.1:${silent.port} within 1000 ms`),
  );
  const words = `The proxy 127.0.0.1:${silent.port} did not open a connection to models.test within 1 s.`;
  await waitFor(async () => (await turn()).error?.message.includes(words));
});
