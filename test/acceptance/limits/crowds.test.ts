// Crowds: what one request takes is summed over all of them, so no turn of the daemon's loop is long however many come at once.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { watchLoop } from '../../support/daemon/loop-watch.ts';
import { openLargeStore } from '../../support/store/large-store.ts';

const CROWD = 190;
const LONGEST_TURN_MS = 50;

const loop = watchLoop({ heapMb: 256 });
let daemon: DaemonProcess;
let made: { files: string; turns: string; page: string };

beforeAll(async () => {
  daemon = await startDaemonProcess({ env: loop.env });
  await daemon.stop();
  const store = openLargeStore(join(daemon.dataDir, 'errand.db'));
  made = {
    files: store.workspace(250, (index) => `/src/${index % 20}/file number ${index}.txt`).sessionId,
    turns: store.conversation(20, 'A longer text. '.repeat(2_000)).sessionId,
    page: store.page(5_000, (index) => `/site/${index % 50}/asset number ${index}.html`),
  };
  for (let page = 0; page < 300; page += 1) store.page(1, () => '/site/index.html', 'long '.repeat(400));
  store.close();
  await daemon.restart();
});

afterAll(async () => {
  await daemon?.close();
  loop.close();
});

async function ask(path: string, isAnyone: boolean): Promise<number | undefined> {
  const headers = isAnyone ? {} : { Authorization: `Bearer ${daemon.apiKey}` };
  const asked = get(`${daemon.url}${path}`, { headers, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  return response.statusCode;
}

test.each<[string, 'anyone' | 'a key', () => string]>([
  ['the description of the interface', 'anyone', () => '/openapi.json'],
  ['the board', 'anyone', () => '/share'],
  ['the API of the board', 'anyone', () => '/api/v1/public/publishes?limit=200'],
  ['a page for people', 'anyone', () => `/share/p/${made.page}`],
  ['the tree of a version', 'anyone', () => `/api/v1/public/publishes/${made.page}/versions/1/files`],
  ['a history', 'a key', () => `/openapi/v1/sessions/${made.turns}/messages`],
  ['files of a session', 'a key', () => `/openapi/v1/sessions/${made.files}/artifacts`],
  ['sessions', 'a key', () => '/openapi/v1/sessions?limit=500'],
  ['the snapshot', 'a key', () => '/api/v1/office-mode/snapshot'],
])('%s, for %s', async (_, who, pathFor) => {
  const path = pathFor();
  const use = await loop.leastOf(daemon, { enoughMs: LONGEST_TURN_MS }, async () => {
    const statuses = await Promise.all(Array.from({ length: CROWD }, async () => ask(path, who === 'anyone')));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
  expect(use.longestMs).toBeLessThan(LONGEST_TURN_MS);
});
