// Workspaces of an installation of two daemons: what a session has made is there wherever it goes on, and nowhere once it is deleted.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DaemonProcess } from '../../support/daemon/daemon-process.ts';
import { startInstallation } from '../../support/daemon/installation.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let [model, north, south]: [ModelServer, DaemonProcess, DaemonProcess] = [] as never;
const closers: (() => void | Promise<void>)[] = [];

const ENDLESS = Array.from({ length: 20_000 }, (_, at) => `${at} `);
/** Whether the run that is to be interrupted was. */
let isInterrupted = false;

const write = (path: string, content: string): Reply => ({ tools: [{ name: 'write_file', input: { path, content } }] });
const read = (path: string): Reply => ({ tools: [{ name: 'read_file', input: { path } }] });
const SCRIPTS: Readonly<Record<string, () => readonly Reply[]>> = {
  write: () => [write('/tide.txt', 'high at north'), { text: 'Written.' }],
  read: () => [read('/tide.txt'), { text: 'Read.' }],
  long: () => [
    write('/half.txt', 'half done at north'),
    isInterrupted ? read('/half.txt') : { text: ENDLESS, deltaMs: 50 },
    { text: 'Done.' },
  ],
};

beforeAll(async () => {
  model = await startModelServer();
  model.script(({ userText, step }) => SCRIPTS[userText]!()[step]!);
  const of = { onTestFinished: (close: () => void | Promise<void>) => void closers.push(close) };
  const errandYaml =
    'workers: { threads: 1, runs_per_thread: 3 }\nworkspace: { sticky_seconds: 0 }\nstreams: { drain_seconds: 1 }\n';
  const { nodes } = await startInstallation(2, { modelServerUrl: model.url, errandYaml }, of);
  [north, south] = nodes as [DaemonProcess, DaemonProcess];
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  await model.close();
});

/** What the model was told last. */
const lastRequest = () => JSON.stringify(model.requests.at(-1)!.body);
const traces = (sessionId: string) =>
  [north, south].map(({ dataDir }) =>
    [join('workspaces', sessionId), join('snapshots', `${sessionId}.json`)].some((path) =>
      existsSync(join(dataDir, path)),
    ),
  );

/** What the other node says of the files of a run. */
async function artifactsOf(runId: string): Promise<string> {
  const headers = { authorization: `Bearer ${south.apiKey}` };
  return (await fetch(`${south.url}/openapi/v1/runs/${runId}/artifacts`, { headers })).text();
}

test('a file that is written at one node is read at the other; deleted, the session leaves both', {
  tags: ['L7'],
}, async () => {
  const first = await takeTurn(north, { content: 'write' });
  expect(first).toMatchObject({ status: 200, text: 'Written.' });
  const sessionId = first.sessionId!;
  expect(await takeTurn(south, { content: 'read', sessionId })).toMatchObject({ status: 200, text: 'Read.' });
  expect(lastRequest()).toContain('high at north');
  expect(traces(sessionId)).toEqual([true, true]);
  await north.admin('DELETE', `/api/v1/sessions/${sessionId}`);
  await waitFor(() => traces(sessionId).every((isThere) => !isThere));
});

test('a session that is forked at one node goes on at the other, with its conversation and its files', {
  tags: ['L7', 'M2-workspace'],
}, async () => {
  const first = await takeTurn(north, { content: 'write' });
  const path = `/openapi/v1/sessions/${first.sessionId!}/fork`;
  const headers = { authorization: `Bearer ${north.apiKey}`, 'content-type': 'application/json' };
  const reply = await fetch(north.url + path, { method: 'POST', headers, body: '{}' });
  const { session_id: sessionId } = (await reply.json()) as { session_id: string };
  expect(sessionId).not.toBe(first.sessionId);
  expect(await takeTurn(south, { content: 'read', sessionId })).toMatchObject({ status: 200, text: 'Read.' });
  for (const words of ['Written.', 'high at north']) expect(lastRequest()).toContain(words);
  expect(traces(sessionId)).toEqual([false, true]);
});

test('a node whose disk is almost full removes an idle workspace, and has its files again when it has room', {
  tags: ['L7'],
}, async () => {
  const { sessionId } = await takeTurn(north, { content: 'write' });
  expect(traces(sessionId!)).toContain(true);
  const files = [north, south].map(({ configDir }) => join(configDir, 'errand.yaml'));
  const before = files.map((file) => readFileSync(file, 'utf8'));
  for (const [at, file] of files.entries()) writeFileSync(file, `${before[at]!}disk: { keep_free_mb: 16777216 }\n`);
  await waitFor(() => traces(sessionId!).every((isThere) => !isThere));
  expect((await fetch(`${north.url}/readyz`)).status).toBe(503);
  for (const [at, file] of files.entries()) writeFileSync(file, before[at]!);
  const areReady = async () => {
    const replies = await Promise.all([north, south].map(({ url }) => fetch(`${url}/readyz`)));
    return replies.every(({ status }) => status === 200);
  };
  await waitFor(areReady);
  const again = await takeTurn(north, { content: 'read', sessionId: sessionId! });
  expect(again).toMatchObject({ status: 200, text: 'Read.' });
  expect(lastRequest()).toContain('high at north');
});

test('a run whose node is stopped goes on at the other one with its files, and they are its artifacts', {
  tags: ['L7', 'E5-changes'],
}, async () => {
  await south.admin('POST', '/api/v1/nodes/south/drain');
  const { runId, sessionId } = await takeTurn(north, {
    content: 'long',
    body: { background: true, idempotency_key: 'long' },
  });
  await waitFor(() => lastRequest().includes('/half.txt'));
  expect(traces(sessionId!)).toEqual([true, false]);
  await south.admin('POST', '/api/v1/nodes/south/undrain');
  isInterrupted = true;
  expect(await north.stop()).toMatchObject({ code: 0 });
  const run = await waitFor(async () => {
    const found = (await south.admin('GET', `/api/v1/runs/${runId}`)) as { status: string; resumes: number };
    return found.status === 'completed' && found;
  });
  expect(run.resumes).toBe(0);
  expect(lastRequest()).toContain('half done at north');
  // Nothing is gone of which its agent would have to be told.
  expect(lastRequest()).not.toContain('restored on another machine');
  await waitFor(async () => (await artifactsOf(runId!)).includes('half.txt'));
  await north.restart();
  await waitFor(() => traces(sessionId!)[0] === false);
});
