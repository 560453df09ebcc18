// All that docs/MONITORING.md shows works when it is pasted, with the real Prometheus where it is installed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { freePort } from '../../support/http/free-port.ts';
import { openReader, type Reader } from '../../support/daemon/document-reader.ts';
import { openTriedDocument } from '../../support/files/document-blocks.ts';
import { openOtlpReceiver } from '../../support/http/otlp-receiver.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const document = openTriedDocument(ROOT, 'docs/MONITORING.md');
const SHOWN = '127.0.0.1:9484';
const HAS_PROMETHEUS = spawnSync('prometheus', ['--version']).error === undefined;
const ends: (() => unknown)[] = [];
let daemon: DaemonProcess;
let reader: Reader;
let address: string;

/** A block with the address of this test's metrics in place of the one that is shown. */
const here = (text: string) => text.replaceAll(SHOWN, address);

async function turn(): Promise<void> {
  await reader.paste("errand chat 'write a.txt: Hello.'");
}

beforeAll(async () => {
  address = `127.0.0.1:${await freePort()}`;
  daemon = await startDaemonProcess({ errandYaml: here(document.fileBlock('errand.yaml').text) });
  ends.push(daemon.close);
  reader = openReader(daemon, { onTestFinished: (end) => ends.push(end) });
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

test('the metrics are at their address alone, and promtool accepts them', async () => {
  await turn();
  const scrape = await reader.paste(here(document.block('curl -s').text));
  expect(scrape).toContain('errand_runs_total{status="completed",mode="immediate"} 1');
  expect(scrape).toContain('errand_tokens_total{model="offline",team="unassigned",kind="output"}');
  expect(scrape).toContain('errand_http_requests_total{route="/openapi/v1/');
  expect(scrape).toContain('errand_model_calls_total{endpoint="offline",outcome="ok"}');
  expect((await fetch(`${daemon.url}/metrics`)).status).toBe(404);
  const { error, status, stdout } = spawnSync('promtool', ['check', 'metrics'], { input: scrape, encoding: 'utf8' });
  if (error === undefined) expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

test('whoever distributes requests asks for its readiness, from inside a container by the command', async () => {
  expect(await reader.paste(document.block('/readyz').text)).toContain('"ready":true');
  // As it is shown, but with time for a busy machine.
  await reader.paste('errand status --wait --timeout 60s');
});

/** Starts Prometheus on a scratch directory and a loopback address. */
async function startPrometheus(): Promise<string> {
  const directory = temporaryDirectory({}, { onTestFinished: (end) => ends.push(end) });
  // As it is shown, but more often.
  const config = here(document.fileBlock('prometheus.yml').text).replace('15s', '1s\n  evaluation_interval: 1s');
  writeFileSync(join(directory, 'prometheus.yml'), config);
  copyFileSync(join(ROOT, 'config/monitoring/alerts.yaml'), join(directory, 'alerts.yaml'));
  const listen = `127.0.0.1:${await freePort()}`;
  const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${listen}`];
  const child: ChildProcess = spawn('prometheus', args, { cwd: directory, stdio: 'ignore' });
  ends.push(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  return `http://${listen}/api/v1`;
}

test('the log is shown as the document has it, and its level changes while the daemon runs', async () => {
  const file = join(reader.directory, 'errand.log');
  writeFileSync(file, daemon.stderr());
  const printed = await reader.paste(document.block('errand logs').text);
  expect(printed).toContain('"msg":"ready"');
  const shows = (level: string) => async () =>
    (await reader.paste('errand config show')).includes(`\nlog.level\t${level}`);
  const details = () => daemon.stderr().split('"level":"debug"').length - 1;
  await turn();
  expect(details()).toBe(0);
  await reader.paste(document.block('log.level debug').text);
  await waitFor(shows('debug'), { everyMs: 250 });
  await turn();
  await waitFor(() => daemon.stderr().includes('"tool":"write_file"'));
  expect(daemon.stderr()).toMatch(/"level":"debug".*"endpoint":"offline","outcome":"ok","msg":"model called"/);
  expect(daemon.stderr()).not.toContain('Hello.');
  await reader.paste(document.block('log.level --default').text);
  await waitFor(shows('info'), { everyMs: 250 });
  /** The log as it is now, up to a request that is made for it. */
  const detailsBefore = async (path: string) => {
    await fetch(`${daemon.url}${path}`);
    await waitFor(() => daemon.stderr().includes(path));
    return details();
  };
  const before = await detailsBefore('/before-the-turn');
  await turn();
  expect(await detailsBefore('/after-the-turn')).toBe(before);
});

test('the traces that are shown are set while the daemon runs, and reach the collector', async () => {
  const receiver = await openOtlpReceiver(undefined, { onTestFinished: (end) => ends.push(end) });
  const shown = document.fileBlock('traces.yaml').text;
  const traces = shown.replace('http://127.0.0.1:4318', receiver.url).replace('sample: 0.1', 'sample: 1');
  writeFileSync(join(daemon.configDir, 'collector.headers'), 'authorization: Bearer of-the-collector\n');
  appendFileSync(join(daemon.configDir, 'errand.yaml'), traces);
  await waitFor(async () => (await reader.paste('errand config show')).includes(receiver.url), { everyMs: 250 });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const reply = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${daemon.apiKey}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'write b.txt: Hello.' }] }),
  });
  expect(reply.status).toBe(200);
  await waitFor(() => receiver.spans.some(({ name }) => name === 'run'), { everyMs: 250 });
  expect(receiver.faults).toEqual([]);
  expect(receiver.requests[0]?.headers.authorization).toBe('Bearer of-the-collector');
  expect(receiver.spans.find(({ name }) => name === 'run')).toMatchObject({
    traceId,
    parentSpanId: '00f067aa0ba902b7',
    status: { code: 1 },
  });
  expect(receiver.spans.map(({ name }) => name)).toContain('execute_tool write_file');
  // Counted when the reply of the collector has come.
  await waitFor(() => reader.paste(`curl -s http://${address}/metrics | grep 'errand_traces_total{outcome="sent"} 1'`));
});

test('the real Prometheus scrapes the daemon, answers queries of the dashboard, and loads the alerts', async ({
  skip,
}) => {
  if (!HAS_PROMETHEUS) skip('SKIPPED: there is no Prometheus on this machine');
  const api = await startPrometheus();
  const ask = async <Data>(path: string) => {
    const reply = (await (await fetch(`${api}/${path}`)).json()) as { status: string; data: Data };
    expect(reply.status).toBe('success');
    return reply.data;
  };
  const query = async (expression: string) => {
    const { result } = await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(expression)}`,
    );
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  };
  await waitFor(async () => (await query('up{job="errand"} == 1')).length === 1, { everyMs: 250 });
  const [before] = await query('sum(errand_runs_total{status="completed"})');
  await turn();
  await waitFor(
    async () => (await query('sum(errand_runs_total{status="completed"})'))[0]?.value === before!.value + 1,
    { everyMs: 250 },
  );
  expect(await query('errand_build_info')).toMatchObject([{ metric: { job: 'errand', instance: address } }]);
  const { groups } = await ask<{ groups: { rules: { name: string; health: string; lastError?: string }[] }[] }>(
    'rules',
  );
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(15);
  expect(rules.filter(({ health }) => health === 'err')).toEqual([]);
  await daemon.stop();
  await waitFor(async () => (await query('up{job="errand"} == 0')).length === 1, { everyMs: 250 });
  // Once the rules have been evaluated after that, the alert waits for its two minutes.
  await waitFor(
    async () => {
      const { alerts } = await ask<{ alerts: { labels: { alertname: string }; state: string }[] }>('alerts');
      return alerts.some(({ labels, state }) => labels.alertname === 'ErrandDown' && state === 'pending');
    },
    { everyMs: 500 },
  );
});

test('every block of the document was pasted, but for what only Prometheus reads where it is missing', () => {
  expect(document.untried()).toEqual(HAS_PROMETHEUS ? [] : [expect.stringContaining(' global:')]);
});
