// The largest replies that there are, to a crowd: a daemon with a small heap stays alive, and no turn of its loop is long.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { download } from '../../support/daemon/download.ts';
import { watchLoop } from '../../support/daemon/loop-watch.ts';
import { openLargeStore } from '../../support/store/large-store.ts';

const HEAP_MB = 256;
const LONGEST_TURN_MS = 50;
const FILES = 50_000;
const TURNS = 10;
const STEPS = 100;
/** The longest text of a turn, all of it characters that JSON escapes or that take two bytes: it has 4 MB. */
const TEXT = '\u0001ö"'.repeat(1_000_000);
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
    steps: store.longRun(STEPS, TEXT.slice(0, 200_000)),
    oneTurn: store.conversation(1, TEXT),
    oneRun: store.longRun(2, TEXT),
  };
  store.close();
  await daemon.restart();
});

afterAll(async () => {
  await daemon?.close();
  loop.close();
});

test.each<[string, string, number, (id: { sessionId: string; runId?: string }) => string]>([
  ['the files of a session', 'files', 3, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/artifacts`],
  ['files in deep folders', 'deep', 6, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/artifacts`],
  ['the files of a run', 'files', 2, ({ runId }) => `/openapi/v1/runs/${runId}/artifacts`],
  [
    'the files of a session in Office Mode',
    'files',
    2,
    ({ sessionId }) => `/api/v1/office-mode/sessions/${sessionId}/workspace/files`,
  ],
  ['a history of long turns', 'turns', 3, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/messages`],
  ['a history of many turns', 'many', 12, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/messages`],
  ['a history of one long run', 'steps', 3, ({ sessionId }) => `/openapi/v1/sessions/${sessionId}/messages`],
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
  ['the detail of a session', 'many', 12, ({ sessionId }) => `/api/v1/office-mode/sessions/${sessionId}/detail`],
])('%s', async (_, name, crowd, pathFor) => {
  const path = pathFor(made[name]!);
  const use = await loop.leastOf(daemon, { enoughMs: LONGEST_TURN_MS }, async () => {
    const replies = await Promise.all(Array.from({ length: crowd }, async () => download(daemon, path)));
    expect(replies).toEqual(replies.map(() => ({ status: 200, isWhole: true })));
  });
  expect(use.longestMs).toBeLessThan(LONGEST_TURN_MS);
});

test('what is too long to be read at once comes whole', async () => {
  const read = async (name: string) => {
    const headers = { Authorization: `Bearer ${daemon.apiKey}` };
    const reply = await fetch(`${daemon.url}/openapi/v1/sessions/${made[name]!.sessionId}/messages`, { headers });
    const { messages } = (await reply.json()) as { messages: { content: { content: unknown[] } }[] };
    return messages.map(({ content }) => content.content);
  };
  const said = [{ type: 'text', text: TEXT }];
  expect(await read('oneTurn')).toEqual([said, said]);
  const step = (number: number) => [
    { type: 'text', text: TEXT },
    { type: 'tool_use', id: `t${number}`, name: 'shell', input: { command: TEXT } },
    { type: 'tool_result', tool_use_id: `t${number}`, is_error: false, content: TEXT },
  ];
  expect((await read('oneRun'))[1]).toEqual([...step(1), ...step(2)]);
});
