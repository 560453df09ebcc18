// Images by web address, from the request to the attachment: fetched before the turn is accepted, or no turn at all.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Run } from '../../src/domain/sessions/run.ts';
import { NO_DEFINITIONS } from '../../src/catalog/definitions.ts';
import { lookUpNow } from '../../src/domain/capabilities/look-up.ts';
import type { KeyCaller } from '../../src/domain/people/user.ts';
import { openBlobStore } from '../../src/files/blobs/blobs.ts';
import { makeAccess } from '../../src/operations/access.ts';
import { makeLog } from '../../src/log/log.ts';
import { makeAcceptTurn } from '../../src/operations/turns/accepting/accept-turn.ts';
import { makeFetchImages } from '../../src/operations/turns/accepting/fetch-images.ts';
import { makeSessionSetup } from '../../src/operations/turns/accepting/session-setup.ts';
import { type Fixture, openFixture, send, SETTINGS } from '../support/http/http-fixture.ts';
import { storeFixture } from '../support/store/store-fixture.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { startWebServer, type WebServer } from '../support/http/web-server.ts';
import { messagesOf } from '../support/store/read-whole.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const MEGABYTE = 1024 * 1024;

/** HTTP in front of the real acceptance, which may fetch only from this server. */
async function openImageFixture({ rule }: WebServer, { timeoutMs = 10_000, bodiesInFlightMb = 16 } = {}) {
  const stores = await storeFixture();
  const directory = join(temporaryDirectory(), 'blobs');
  const settings = () => ({ ...SETTINGS, egress: { ...SETTINGS.egress, allow: [rule] } });
  const ending = new AbortController();
  const fetchImages = makeFetchImages({ settings, ending: ending.signal, timeoutMs });
  let received = 0;
  const counted = (takeRoom: (bytes: number) => void) => (bytes: number) => {
    takeRoom(bytes);
    received += bytes;
  };
  const acceptTurn = makeAcceptTurn({
    store: stores.store,
    access: makeAccess(stores.store),
    disk: { shortage: () => null },
    blobs: await openBlobStore(directory, stores.store.smallBlobs),
    queue: { admit: (accept) => accept(null) },
    node: { onlineCapacity: () => 5, allDrain: () => false, look: async () => undefined },
    schemas: { check: async () => null },
    settings,
    fetchImages: (fetching) => fetchImages({ ...fetching, takeRoom: counted(fetching.takeRoom) }),
    makeSetup: makeSessionSetup({ store: stores.store, definitions: () => NO_DEFINITIONS, lookUp: lookUpNow }),
    clock: stores.clock,
    log: makeLog({ level: 'fatal' }),
    closing: () => ending.signal.aborted,
  });
  const caller: KeyCaller = { kind: 'key', reach: 'key', user: stores.user, key: stores.key };
  const answered = async (_: KeyCaller, run: Run): Promise<Run> => ({
    ...run,
    status: 'completed',
    answer: 'Seen.',
    stopReason: 'end_turn',
  });
  const http = await openFixture({
    operations: { acceptTurn: (_, input, asking) => acceptTurn(caller, input, asking), awaitResult: answered },
    settings: { limits: { ...SETTINGS.limits, bodiesInFlightMb } },
  });
  /** Of blobs. */
  const files = () =>
    readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length +
    stores.rows('SELECT key FROM small_blobs').length;
  const sessions = async () => (await stores.store.sessions.listOfKey(stores.key.seq, 10, 0)).items;
  const attachments = async () => {
    const [session] = await sessions();
    const [message] = session === undefined ? [] : await messagesOf(stores.store, session.seq);
    return message?.attachments ?? [];
  };
  return { http, ending, files, sessions, attachments, received: () => received };
}

const image = (url: string, more: object = {}) => ({ type: 'image', source: { type: 'url', url }, ...more });
const saying = (blocks: readonly object[], more: object = {}) => ({
  model: 'errand',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...blocks] }],
  ...more,
});
const post = (http: Fixture, body: object, path = '/openapi/v1/messages') =>
  send(http, { method: 'POST', path, as: 'conversation-key', body });

const serving =
  (type: string, body: Buffer | string = PNG, status = 200): RequestListener =>
  (_req, res) =>
    void res.writeHead(status, { 'content-type': type }).end(body);

test('an image is fetched when the turn is accepted, and is its attachment', { tags: ['§4.3-rule-1'] }, async () => {
  const server = await startWebServer(serving('Image/PNG; x=y'));
  const fixture = await openImageFixture(server);
  const blocks = [
    image(`${server.url}/a/cat%20photo.png?size=2`),
    image(server.url),
    image(server.url, { file_name: 'b.png' }),
  ];
  const { status } = await post(fixture.http, saying(blocks));
  expect(status).toBe(200);
  expect(await fixture.attachments()).toMatchObject([
    { name: 'cat photo.png', mimeType: 'image/png', size: PNG.length },
    { name: 'image.png', mimeType: 'image/png', size: PNG.length },
    { name: 'b.png', mimeType: 'image/png', size: PNG.length },
  ]);
  expect(fixture.files()).toBe(1);
  expect(server.hits[0]?.headers).toMatchObject({ accept: 'image/*' });
});

test('both forms of the chat protocol are fetched too', async () => {
  const server = await startWebServer(serving('image/png'));
  const fixture = await openImageFixture(server);
  const blocks = [
    { type: 'image_url', image_url: { url: `${server.url}/a.png` } },
    { type: 'input_image', image_url: `${server.url}/b.png` },
  ];
  expect((await post(fixture.http, saying(blocks), '/openapi/v1/chat/completions')).status).toBe(200);
  expect((await fixture.attachments()).map(({ name }) => name)).toEqual(['a.png', 'b.png']);
});

test('an image that comes compressed, and by a redirect, is the image', async () => {
  const server = await startWebServer((req, res) => {
    if (req.url === '/old.png') res.writeHead(301, { location: '/new.png' }).end();
    else res.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(gzipSync(PNG));
  });
  const fixture = await openImageFixture(server);
  expect((await post(fixture.http, saying([image(`${server.url}/old.png`)]))).status).toBe(200);
  expect(await fixture.attachments()).toMatchObject([{ name: 'new.png', size: PNG.length }]);
});

/** What a server does, and the status and message that the request gets. */
const REFUSALS: readonly (readonly [string, RequestListener, number, RegExp])[] = [
  ['answers 404', serving('image/png', PNG, 404), 400, /answered with status 404/],
  ['answers 404 with a page', serving('text/html', '<p>', 404), 400, /answered with status 404/],
  ['answers 500', serving('image/png', '', 500), 400, /answered with status 500/],
  ['sends a page', serving('text/html', '<p>'), 400, /answered with text\/html/],
  ['sends no type', (_req, res) => void res.end(PNG), 400, /no usable content type/],
  ['sends a type that only begins like one', serving('imagex/png'), 400, /answered with imagex\/png/],
  ['sends what is no image', serving('image/png', 'hello'), 400, /must be a readable/],
  ['sends nothing', serving('image/svg+xml', ''), 400, /must not be empty/],
  ['breaks off', (req) => void req.socket.destroy(), 400, /closed the connection/],
  [
    'redirects to a private address',
    (_req, res) => void res.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    400,
    /may not be reached/,
  ],
  [
    'redirects for ever',
    (_req, res) => void res.writeHead(302, { location: '/' }).end(),
    400,
    /redirects too many times/,
  ],
  ['sends too much', serving('image/svg+xml', Buffer.alloc(MEGABYTE + 1)), 413, /must be at most 1 MB/],
  [
    'sends a bomb',
    (_req, res) =>
      void res
        .writeHead(200, { 'content-type': 'image/svg+xml', 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(64 * MEGABYTE))),
    413,
    /must be at most 1 MB/,
  ],
];

test.each(REFUSALS)(
  'when the server %s there is no run, no session and no file',
  { tags: ['§4.3-rule-1', '§7-image-address', '§7-image-size'] },
  async (_, handler, status, words) => {
    const server = await startWebServer(handler);
    const fixture = await openImageFixture(server);
    const good = { type: 'file', file_name: 'a.txt', source: { data: 'aGk=', media_type: 'text/plain' } };
    const answer = await post(fixture.http, saying([good, image(`${server.url}/x.png`)]));
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringMatching(words) },
    });
    expect(answer.text).toContain('messages[0].content[2].source.url: ');
    expect([await fixture.sessions(), fixture.files()]).toEqual([[], 0]);
  },
);

test.each([
  'http://10.0.0.1/a.png',
  'http://169.254.169.254/latest',
  'http://localhost/a.png',
  'http://u:p@127.0.0.1/',
])('an image at %s is 400', { tags: ['§7-image-address'] }, async (url) => {
  const server = await startWebServer();
  const fixture = await openImageFixture(server);
  expect((await post(fixture.http, saying([image(url)]))).status).toBe(400);
  expect([await fixture.sessions(), fixture.files(), server.hits]).toEqual([[], 0, []]);
});

test('a file by web address is 422, and nothing is fetched', { tags: ['§4.3-rule-1', 'C3'] }, async () => {
  const server = await startWebServer();
  const fixture = await openImageFixture(server);
  const file = { type: 'file', source: { type: 'url', url: server.url } };
  expect((await post(fixture.http, saying([file]))).status).toBe(422);
  expect(server.hits).toEqual([]);
});

test('a server that does not answer in time is 400', {
  tags: ['§4.3-rule-1', '§7-image-address', '§8-image-download'],
}, async () => {
  const server = await startWebServer(() => undefined);
  const fixture = await openImageFixture(server, { timeoutMs: 200 });
  const answer = await post(fixture.http, saying([image(server.url)]));
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('did not reply completely')]);
});

test('one image that fails ends the others, and leaves no file of those that were there', async () => {
  const closed: Promise<unknown>[] = [];
  const server = await startWebServer((req, res) => {
    if (req.url === '/good') serving('image/png')(req, res);
    else if (req.url === '/slow') closed.push(once(res, 'close'));
    else if (closed.length === 2) res.writeHead(404).end();
    else res.writeHead(302, { location: '/bad' }).end();
  });
  const fixture = await openImageFixture(server);
  const paths = ['/good', '/slow', '/slow', '/bad'];
  const { status } = await post(fixture.http, saying(paths.map((path) => image(server.url + path))));
  expect(status).toBe(400);
  await Promise.all(closed);
  expect([await fixture.sessions(), fixture.files()]).toEqual([[], 0]);
});

test('many images are fetched a few at a time', async () => {
  let now = 0;
  let most = 0;
  const server = await startWebServer((_req, res) => {
    now += 1;
    most = Math.max(most, now);
    setImmediate(() => {
      now -= 1;
      res.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
    });
  });
  const fixture = await openImageFixture(server);
  const images = Array.from({ length: 20 }, (_, index) => image(`${server.url}/${index}.png`));
  expect((await post(fixture.http, saying(images))).status).toBe(200);
  expect((await fixture.attachments()).map(({ name }) => name)).toEqual(images.map((_, index) => `${index}.png`));
  expect(most).toBeLessThanOrEqual(4);
});

test('images that are too much together are 413', { tags: ['§7-image-size'] }, async () => {
  const server = await startWebServer(serving('image/svg+xml', Buffer.alloc(MEGABYTE)));
  const fixture = await openImageFixture(server);
  const answer = await post(fixture.http, saying(Array.from({ length: 5 }, () => image(server.url))));
  expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('at most 4 MB together')]);
  expect(fixture.files()).toBe(0);
});

const large = Buffer.alloc(700 * 1024);

test('images without room next to the bodies are 503, and leave nothing; later there is room again', async () => {
  const server = await startWebServer(serving('image/svg+xml', large));
  const fixture = await openImageFixture(server, { bodiesInFlightMb: 1 });
  const two = await post(fixture.http, saying([image(server.url), image(server.url)]));
  expect(two).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  expect([await fixture.sessions(), fixture.files()]).toEqual([[], 0]);
  for (let i = 0; i < 2; i += 1) expect((await post(fixture.http, saying([image(server.url)]))).status).toBe(200);
});

test('the bytes of an image count from the moment in which they arrive', async () => {
  const rest = Promise.withResolvers<void>();
  const server = await startWebServer((req, res) => {
    if (req.url !== '/slow') return serving('image/svg+xml', large)(req, res);
    res.writeHead(200, { 'content-type': 'image/svg+xml' }).write(large);
    void rest.promise.then(() => res.end());
  });
  const fixture = await openImageFixture(server, { bodiesInFlightMb: 1 });
  const slow = post(fixture.http, saying([image(`${server.url}/slow`)]));
  // Two that come at once might leave the first no room.
  await waitFor(() => fixture.received() === large.length);
  expect((await post(fixture.http, saying([image(server.url)]))).status).toBe(503);
  rest.resolve();
  expect((await slow).status).toBe(200);
});

/** A server that never replies, and reports when it was called and when the call was aborted. */
async function startSilentServer() {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const server = await startWebServer((_req, res) => {
    res.once('close', left.resolve);
    asked.resolve();
  });
  return { server, asked: asked.promise, left: left.promise };
}

test('a client that leaves ends the fetching', async () => {
  const { server, asked, left } = await startSilentServer();
  const fixture = await openImageFixture(server);
  const headers = { authorization: 'Bearer conversation-key', 'content-type': 'application/json' };
  const req = httpRequest(`${fixture.http.url}/openapi/v1/messages`, { method: 'POST', headers });
  req.on('error', () => undefined).end(JSON.stringify(saying([image(server.url)])));
  await asked;
  req.destroy();
  await left;
  expect([await fixture.sessions(), fixture.files()]).toEqual([[], 0]);
});

test('a daemon that ends answers 503 and waits for no image', async () => {
  const { server, asked, left } = await startSilentServer();
  const fixture = await openImageFixture(server);
  const answer = post(fixture.http, saying([image(server.url)]));
  await asked;
  fixture.ending.abort();
  await left;
  expect(await answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  expect([await fixture.sessions(), fixture.files()]).toEqual([[], 0]);
});

test('a repeated request finds its run without fetching the image again', async () => {
  const server = await startWebServer(serving('image/png'));
  const fixture = await openImageFixture(server);
  const once = saying([image(server.url)], { idempotency_key: 'once' });
  const first = await post(fixture.http, once);
  const again = await post(fixture.http, once);
  expect([first.status, again.status, again.headers['idempotency-replayed']]).toEqual([200, 200, 'true']);
  const session = String(first.headers['x-session-id']);
  const next = saying([image(server.url)], { idempotency_key: 'next', metadata: { session_id: session } });
  const replies = [await post(fixture.http, next), await post(fixture.http, next)];
  expect(new Set(replies.map(({ headers }) => headers['x-run-id'])).size).toBe(1);
  const job = { ...once, background: true, idempotency_key: 'job' };
  expect([(await post(fixture.http, job)).status, (await post(fixture.http, job)).status]).toEqual([202, 202]);
  expect(server.hits).toHaveLength(3);
});

test('an unknown session is reported before anything is fetched', { tags: ['A1-order'] }, async () => {
  const server = await startWebServer(serving('image/png'));
  const fixture = await openImageFixture(server);
  const lost = saying([image(server.url)], { metadata: { session_id: '0198c0de-0000-7000-8000-00000000dead' } });
  expect((await post(fixture.http, lost)).status).toBe(404);
  const stored = { type: 'file', source: { data: 'attachments/none/none.txt' } };
  expect((await post(fixture.http, saying([image(server.url), stored]))).status).toBe(404);
  expect(server.hits).toEqual([]);
});
