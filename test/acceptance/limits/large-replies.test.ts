// The largest replies that there are, to a crowd: a daemon with a small heap stays alive, and no turn of its loop is long.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { watchLoop } from '../../support/daemon/loop-watch.ts';
import { openLargeStore } from '../../support/store/large-store.ts';

const HEAP_MB = 256;
const LONGEST_TURN_MS = 50;
const FILES = 50_000;
const TURNS = 30;
const STEPS = 200;
const TEXT = 'ö"\n'.repeat(1_300_000);
/** Paths of a workspace with folders in folders. */
const pathOf = (index: number) => `/src/${index % 50}/part-${index % 500}/file number ${index}.txt`;

const loop = watchLoop({ heapMb: HEAP_MB });
let daemon: DaemonProcess;
let made: Readonly<Record<string, { readonly sessionId: string; readonly runId?: string }>>;

beforeAll(async () => {
  daemon = await startDaemonProcess({ env: loop.env });
  await daemon.stop();
  const store = openLargeStore(join(daemon.dataDir, 'errand.db'));
  made = {
    files: store.workspace(FILES, pathOf),
    deep: store.workspace(500, (index) => `${'/deep'.repeat(700)}/${index}`),
    turns: store.conversation(TURNS, TEXT),
    many: store.conversation(5_000, 'A short text.'),
    steps: store.longRun(STEPS, TEXT.slice(0, 400_000)),
  };
  store.close();
  await daemon.restart();
});

afterAll(async () => {
  await daemon?.close();
  loop.close();
});

/** The bytes and the end of a reply. */
async function download(path: string) {
  const headers = { Authorization: `Bearer ${daemon.apiKey}` };
  const asked = get(`${daemon.url}${path}`, { headers, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const last: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    last.push(chunk);
    if (last.length > 2) last.shift();
  }
  return { status: response.statusCode, bytes, end: Buffer.concat(last).toString().slice(-3) };
}

test.each<[string, string, number, (id: { sessionId: string; runId?: string }) => string]>([
  ['the files of a session', 'files', 24, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/artifacts`],
  ['files in deep folders', 'deep', 24, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/artifacts`],
  ['the files of a run', 'files', 24, ({ runId }) => `/openapi/v1/runs/${runId}/artifacts`],
  [
    'the files of a session in Office Mode',
    'files',
    24,
    ({ sessionId }) => `/api/v1/office-mode/sessions/${sessionId}/workspace/files`,
  ],
  ['a history of long turns', 'turns', 6, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/messages`],
  ['a history of many turns', 'many', 24, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/messages`],
  ['a history of one long run', 'steps', 6, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/messages`],
  [
    'a page of messages in Office Mode',
    'turns',
    12,
    ({ sessionId }) => `/api/v1/office-mode/sessions/${sessionId}/messages-with-files`,
  ],
  [
    'the rounds of a session',
    'many',
    24,
    ({ sessionId }) => `/api/v1/office-mode/sessions/${sessionId}/run-rounds?limit=500`,
  ],
  ['the detail of a session', 'many', 24, ({ sessionId }) => `/api/v1/office-mode/sessions/${sessionId}/detail`],
])('%s', async (_, name, crowd, pathFor) => {
  const path = pathFor(made[name]!);
  const replies: unknown[] = [];
  const use = await loop.during(daemon, async () => {
    const all = await Promise.all(Array.from({ length: crowd }, async () => download(path)));
    replies.push(...all.map(({ status, end }) => [status, /[}\]]$/.test(end)]));
    console.log(path.replace(/[0-9a-f-]{36}/, ''), all[0]!.bytes, JSON.stringify(all[0]));
  });
  console.log(JSON.stringify(use));
  expect(replies).toEqual(replies.map(() => [200, true]));
  expect(use.longestMs).toBeLessThan(LONGEST_TURN_MS);
});
