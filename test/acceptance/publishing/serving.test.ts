// Published bytes from the real daemon: a site that an agent wrote, a recording of a megabyte, and a host for shares alone.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const HTML = '<!doctype html><link rel="stylesheet" href="css/a.css"><img src="moon.svg"><script src="a.js"></script>';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(document.cookie)</script></svg>';
const RECORDING = randomBytes(1_048_577);

interface Page {
  readonly publish_key: string;
  readonly latest_share_code: string;
  readonly workspace_file: { readonly url: string; readonly downloadUrl: string };
}

/** A session whose agent wrote these files, and a page of each entry. */
async function publish(files: Readonly<Record<string, string>>, ...entries: string[]) {
  const calls = Object.entries(files).map(([path, content]) => ({ name: 'write_file', input: { path, content } }));
  model.script(({ step }) => (step === 0 ? { tools: calls } : { text: 'Done.' }));
  const { sessionId } = await takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: 'Write.' });
  const pages: Page[] = [];
  for (const entry of entries) {
    const body = { name: 'Tides', session_id: sessionId, entry_path: entry };
    pages.push((await daemon.admin('POST', '/api/v1/publishes', body)) as Page);
  }
  return { sessionId: sessionId!, pages };
}

const baseOf = ({ latest_share_code: code }: Page) => `/api/v1/public/shares/${code}`;

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Sends a path as it is, to the host that is named. */
async function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Got> {
  const { hostname, port } = new URL(daemon.url);
  return new Promise((resolve, reject) => {
    get({ hostname, port, path, headers, method, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, bytes: Buffer.concat(chunks) }));
      res.on('error', reject);
    }).on('error', reject);
  });
}

test('a site arrives as it was written, each file under the policy of its kind, and outlives its session', async () => {
  const { sessionId, pages } = await publish(
    {
      '/site/index.html': HTML,
      '/site/css/a.css': 'p{}',
      '/site/a.js': 'hello()',
      '/site/moon.svg': SVG,
      '/key.txt': 'k',
    },
    '/site/index.html',
  );
  const [page] = pages as [Page];
  const kinds = [
    ['content', HTML, 'text/html; charset=utf-8', /^sandbox allow-scripts (?!.*allow-same-origin)/],
    ['assets/index.html', HTML, 'text/html; charset=utf-8', /^sandbox allow-scripts (?!.*allow-same-origin)/],
    ['assets/css/a.css', 'p{}', 'text/css; charset=utf-8', /^default-src 'none'.*; sandbox$/],
    ['assets/a.js', 'hello()', 'text/javascript; charset=utf-8', /^default-src 'none'.*; sandbox$/],
    ['assets/moon.svg', SVG, 'image/svg+xml', /^default-src 'none'; script-src 'none'.*; sandbox$/],
  ] as const;
  const check = async () => {
    for (const [path, text, type, policy] of kinds) {
      const got = await ask(`${baseOf(page)}/${path}`, { cookie: 'a=b' });
      expect([path, got.status, got.bytes.toString()]).toEqual([path, 200, text]);
      expect(got.headers).toMatchObject({
        'content-type': type,
        'content-security-policy': expect.stringMatching(policy),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(got.headers['set-cookie']).toBeUndefined();
    }
    expect((await fetch(page.workspace_file.url)).status).toBe(200);
    for (const path of ['assets/key.txt', 'assets/../key.txt', 'assets/..%2fkey.txt', 'media'])
      expect([path, (await ask(`${baseOf(page)}/${path}`)).status]).toEqual([path, 404]);
  };
  await check();
  await daemon.admin('DELETE', `/api/v1/sessions/${sessionId}`);
  await check();
});

test('a recording is played from any part of it, and is sent once to a browser that keeps it', async () => {
  const { sessionId } = await publish({ '/first.txt': 'x' });
  const directory = join(daemon.dataDir, 'workspaces', sessionId);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'talk.mp3'), RECORDING);
  // A run without a tool call may end before its workspace has been looked at.
  const note = { name: 'write_file', input: { path: '/notes.txt', content: 'Recorded.' } };
  model.script(({ step }) => (step === 0 ? { tools: [note] } : { text: 'Recorded.' }));
  await takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: 'Record.', sessionId });
  const body = { name: 'Talk', session_id: sessionId, entry_path: '/talk.mp3' };
  const path = `${baseOf((await daemon.admin('POST', '/api/v1/publishes', body)) as Page)}/media`;
  const whole = await ask(path);
  expect([whole.status, whole.headers['content-type'], whole.bytes.equals(RECORDING)]).toEqual([
    200,
    'audio/mpeg',
    true,
  ]);
  const etag = `"${createHash('sha256').update(RECORDING).digest('hex')}"`;
  expect(whole.headers.etag).toBe(etag);
  for (const [range, from, to] of [
    ['bytes=0-99', 0, 100],
    ['bytes=65530-65545', 65_530, 65_546],
    ['bytes=1-', 1, RECORDING.length],
    ['bytes=-7', RECORDING.length - 7, RECORDING.length],
  ] as const) {
    const part = await ask(path, { range });
    expect([range, part.status, part.bytes.equals(RECORDING.subarray(from, to))]).toEqual([range, 206, true]);
    expect(part.headers['content-range']).toBe(`bytes ${from}-${to - 1}/${RECORDING.length}`);
  }
  expect((await ask(path, { range: `bytes=${RECORDING.length}-` })).status).toBe(416);
  expect((await ask(path, { 'if-none-match': etag })).status).toBe(304);
  expect((await ask(path, { 'if-modified-since': whole.headers['last-modified']! })).status).toBe(304);
  const head = await ask(path, {}, 'HEAD');
  expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([200, 0, String(RECORDING.length)]);
});

test('shares move to a host of their own while the daemon runs, and back', async () => {
  const { pages } = await publish({ '/index.html': HTML }, '/index.html');
  const path = `${baseOf(pages[0]!)}/content`;
  const at = async (host: string, target: string) => (await ask(target, { host })).status;
  expect([await at('shares.example', '/healthz'), await at('shares.example', path)]).toEqual([200, 200]);
  const settings = join(daemon.configDir, 'errand.yaml');
  writeFileSync(settings, 'share_origin: https://shares.example\n');
  await waitFor(async () => (await at('shares.example', '/healthz')) === 404);
  expect(await at('SHARES.example:443', path)).toBe(200);
  expect(await at('errand.example', path)).toBe(404);
  expect(await at('errand.example', '/healthz')).toBe(200);
  expect(await at('shares.example', '/openapi.json')).toBe(404);
  const { workspace_file: file } = (await daemon.admin('GET', `/api/v1/publishes/${pages[0]!.publish_key}`)) as Page;
  expect(file.url).toMatch(/^https:\/\/shares\.example\/api\/v1\/public\/shares\//);
  writeFileSync(settings, '');
  await waitFor(async () => (await at('shares.example', '/healthz')) === 200);
});
