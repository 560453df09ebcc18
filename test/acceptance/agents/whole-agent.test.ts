// The whole agent in one turn: an uploaded table, a command, a page, an MCP tool, a question, a report and an image; then both archives.
import { createHash } from 'node:crypto';
import { realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { tarEntries, zipEntries } from '../../support/files/archives.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const LIMITS = { timeoutMs: 120_000, maxOutputBytes: 65_536, memoryBytes: 512 * 1_048_576, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!probe.ok) console.warn(`\n*** SKIPPED: the whole agent in one turn. ${probe.why} ***\n`);

const CSV = 'place,height\nHusum,3.4\nEmden,2.9\nCuxhaven,3.1\n';
/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
const PAGE = '<html><head><title>Tides</title></head><body><h1>Spring tide</h1><p>On <b>Sunday</b>.</p></body></html>';

/** What the model does in each step; the texts of earlier results are checked in its prompts. */
const STEPS: readonly Reply[] = [
  { text: 'I read the table.', tools: [{ name: 'read_file', input: { path: '/uploads/heights.csv' } }] },
  {
    tools: [
      {
        name: 'shell',
        input: {
          command: "tail -n +2 uploads/heights.csv | cut -d, -f2 | paste -sd+ | sed 's/.*/(&)/' > sum.txt; cat sum.txt",
        },
      },
    ],
  },
  { tools: [{ name: 'web_fetch', input: { url: '{{page}}' } }] },
  { tools: [{ name: 'mcp__calc__add', input: { a: 3.4, b: 6 } }] },
  { tools: [{ name: 'ask_user', input: { question: 'Which title?', options: ['Tides', 'Heights'] } }] },
  {
    tools: [
      { name: 'write_file', input: { path: '/report.md', content: '# Tides\n\nThe sum is 9.4 m.\n' } },
      { name: 'shell', input: { command: `mkdir -p img && printf %s ${PNG} | base64 -d > img/dot.png` } },
    ],
  },
  { text: 'The report is in /report.md.' },
];

let models: ModelServer;
let daemon: DaemonProcess;
let page: { url: string; close(): void };

async function startPage() {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tides`;
  return { url, close: () => void server.close() };
}

beforeAll(async () => {
  if (!probe.ok) return;
  models = await startModelServer();
  page = await startPage();
  daemon = await startDaemonProcess({
    modelServerUrl: models.url,
    errandYaml: 'egress: { allow: [{ cidr: 127.0.0.1/32, for: [web_fetch] }] }\n',
  });
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const node = realpathSync(process.execPath);
  const calc = {
    command: node,
    args: [join(root, 'test/support/mcp/mcp-server.mjs')],
    folders: [root, realpathSync(join(root, 'node_modules')), dirname(node)],
    enabled_by_default: true,
  };
  writeFileSync(join(daemon.configDir, 'mcp-servers.yaml'), JSON.stringify({ servers: { calc } }));
  await daemon.restart();
});

afterAll(async () => {
  await daemon?.close();
  await models?.close();
  page?.close();
});

async function get<T>(path: string): Promise<T> {
  const response = await fetch(`${daemon.url}/openapi/v1${path}`, { headers: { 'x-api-key': daemon.apiKey } });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

async function answerQuestion(sessionId: string, answers: unknown): Promise<Record<string, unknown>> {
  const question = await waitFor(
    async () => {
      const { items } = await get<{ items: Record<string, unknown>[] }>(`/sessions/${sessionId}/user-inputs`);
      return items.find(({ status }) => status === 'pending') ?? null;
    },
    { what: 'the agent asks' },
  );
  const response = await fetch(`${daemon.url}/openapi/v1/user-inputs/${String(question['request_id'])}/answer`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ answers }),
  });
  expect(response.status).toBe(200);
  return question;
}

interface Artifacts {
  readonly artifact_status?: string;
  readonly workspace_export_status?: string;
  readonly files: readonly { path: string; oss_status?: string; oss_meta?: { sha256: string }; url: string }[];
  readonly archive: { readonly url: string; readonly filename: string };
}

const settled = (path: string) =>
  waitFor(
    async () => {
      const found = await get<Artifacts>(path);
      return [found.artifact_status, found.workspace_export_status].includes('pending') ? null : found;
    },
    { what: 'the files are packed' },
  );

const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

describe.skipIf(!probe.ok)(probe.ok ? 'the whole agent' : 'the whole agent — SKIPPED: THERE IS NO SANDBOX HERE', () => {
  test('reads an upload, computes, fetches, uses MCP, asks, writes; and both archives hold exactly what it made', async () => {
    const steps = JSON.parse(JSON.stringify(STEPS).replace('{{page}}', page.url)) as Reply[];
    models.script(({ step }) => steps[step] ?? { text: 'Over.' });
    const client = new Anthropic({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
    const stream = client.messages.stream({
      model: 'errand',
      max_tokens: 100,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Report on the heights.' },
            {
              type: 'document',
              file_name: 'heights.csv',
              source: { type: 'base64', media_type: 'text/csv', data: Buffer.from(CSV).toString('base64') },
            } as never,
          ],
        },
      ],
    });
    const { response } = await stream.withResponse();
    const sessionId = response.headers.get('x-session-id')!;
    const runId = response.headers.get('x-run-id')!;
    const question = await answerQuestion(sessionId, 'Tides');
    expect(question).toMatchObject({ tool_name: 'ask_user', tool_input: { question: 'Which title?' } });
    const message = await stream.finalMessage();
    expect(message.content.at(-1)).toEqual({ type: 'text', text: 'The report is in /report.md.' });

    const prompt = JSON.stringify(models.requests.at(-1)!.body);
    // The document is shown as text, and each tool's result was read: table, sum, page, MCP, answer.
    for (const words of ['Cuxhaven,3.1', '(3.4+2.9+3.1)', 'Spring tide', '9.4', 'Tides'])
      expect(prompt).toContain(words);
    expect(prompt).not.toContain('<h1>');

    const run = await settled(`/runs/${runId}/artifacts`);
    expect(run.artifact_status).toBe('ready');
    expect(run.archive.filename).toBe(`run-artifacts-${runId}.tar.gz`);
    const made = run.files.map(({ path, oss_status }) => `${oss_status} ${path}`);
    expect(made).toEqual(['added /img/dot.png', 'added /report.md', 'added /sum.txt']);
    const tar = await tarEntries(await bytesAt(run.archive.url));
    expect(Object.keys(tar).toSorted()).toEqual(['img/dot.png', 'report.md', 'sum.txt']);

    const session = await settled(`/sessions/${sessionId}/artifacts`);
    expect(session.workspace_export_status).toBe('ready');
    const zip = zipEntries(await bytesAt(session.archive.url));
    expect(zip).toMatchObject({ ...tar, 'uploads/heights.csv': CSV });
    expect(Object.keys(zip)).toHaveLength(4);

    const image = await bytesAt(run.files[0]!.url);
    expect(image.toString('base64')).toBe(PNG);
    expect(sha256(image)).toBe(run.files[0]!.oss_meta!.sha256);
    for (const { path, oss_meta } of run.files.slice(1)) expect(sha256(tar[path.slice(1)]!)).toBe(oss_meta!.sha256);
  });
});
