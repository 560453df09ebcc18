// Bodies as they arrive: what is spooled to a file, what stays in memory, what is refused before either.
import { readdirSync, readlinkSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { Pause } from '../../../src/domain/loop/slices.ts';
import { makeOpenSpool } from '../../../src/files/blobs/spool.ts';
import { readJsonBody } from '../../../src/http/body/request-body.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { finish, type Fixture, openFixture, send, SETTINGS } from '../../support/http/http-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const MESSAGES = '/openapi/v1/messages';
const MEGABYTE = 1024 * 1024;
const turn = (content: unknown, more: object = {}) => ({
  model: 'errand',
  messages: [{ role: 'user', content }],
  ...more,
});
const post = (fixture: Fixture, body: object | string | Buffer, as = 'conversation-key') =>
  send(fixture, { method: 'POST', path: MESSAGES, as, body, headers: { 'content-type': 'application/json' } });
const messageOf = ({ json }: { json: unknown }) => (json as { error: { message: string } }).error.message;
const file = (bytes: Buffer, mediaType = 'application/octet-stream') => ({
  type: 'file',
  source: { type: 'base64', media_type: mediaType, data: bytes.toString('base64') },
});
const bytesOf = (count: number) => Buffer.from(Uint8Array.from({ length: count }, (_, i) => (i * 7 + (i >> 8)) % 256));

/** A fixture whose turns have their content read while they are accepted, as the real ones do. */
async function openReadingFixture(settings: Parameters<typeof openFixture>[0] = {}) {
  const uploads: Buffer[] = [];
  const texts: string[] = [];
  const during: { spools: number }[] = [];
  const spools = () => readdirSync('/proc/self/fd').filter((fd) => isSpool(fd, fixture.spoolDirectory)).length;
  const fixture = await openFixture({
    ...settings,
    operations: {
      acceptTurn: async (_caller, { content, protocol }) => {
        during.push({ spools: spools() });
        for (const block of content) {
          if (block.type === 'text') texts.push(block.text);
          if (block.type === 'upload') uploads.push(Buffer.concat(await Array.fromAsync(block.bytes.pieces())));
        }
        const run = fixture.book.open({ protocol });
        finish(fixture.book, run, 'Hello.');
        return { run, replayed: false };
      },
      ...settings.operations,
    },
  });
  return { fixture, uploads, texts, during, spools };
}

function isSpool(fd: string, directory: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory);
  } catch {
    return false;
  }
}

test('an attachment that is long arrives byte for byte, and its file is gone when the turn is accepted', async () => {
  const { fixture, uploads, during, spools } = await openReadingFixture();
  const sent = [bytesOf(MEGABYTE), bytesOf(100_001), bytesOf(100_002), bytesOf(3)];
  const slashes = JSON.stringify(turn(sent.map((bytes) => file(bytes)))).replaceAll('/', '\\/');
  expect((await post(fixture, slashes)).status).toBe(200);
  expect(uploads).toEqual(sent);
  expect(during).toEqual([{ spools: 1 }]);
  expect(spools()).toBe(0);
});

test('a data URL and an image are read from where they are stored', async () => {
  const { fixture, uploads } = await openReadingFixture();
  const picture = Buffer.concat([Buffer.from('GIF89a\x02\x00\x02\x00', 'latin1'), Buffer.alloc(200_000, 1)]);
  const data = `data:image/gif;base64,${picture.toString('base64')}`;
  const image = { type: 'image', source: { type: 'url', url: data } };
  expect((await post(fixture, turn([image]))).status).toBe(200);
  expect(uploads).toEqual([picture]);
});

test('a JPEG with megabytes of metadata before its size is taken, and one without a size is not', async () => {
  const { fixture, uploads } = await openReadingFixture();
  const metadata = Buffer.concat([Buffer.from([0xff, 0xe1, 0xff, 0xff]), Buffer.alloc(0xfffd, 9)]);
  const size = Buffer.from([0xff, 0xc0, 0, 17, 8, 0, 20, 0, 30, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1, 0xff, 0xd9]);
  const start = Buffer.from([0xff, 0xd8]);
  const whole = Buffer.concat([start, ...Array.from({ length: 11 }, () => metadata), size]);
  const image = (bytes: Buffer) => ({ ...file(bytes, 'image/jpeg'), type: 'image' });
  expect((await post(fixture, turn([image(whole)]))).status).toBe(200);
  expect(uploads).toEqual([whole]);
  expect((await post(fixture, turn([image(whole.subarray(0, 500_000))]))).status).toBe(422);
});

test.each([
  ['a character that is none of base64', (text: string) => `${text.slice(0, 90_001)}-${text.slice(90_002)}`],
  ['padding in the middle', (text: string) => `${text.slice(0, 90_002)}==${text.slice(90_004)}`],
  ['padding where a piece of it ends', (text: string) => `${text.slice(0, 65_529)}A==${text.slice(65_532)}`],
  ['padding that is missing', (text: string) => text.slice(0, -1)],
  ['a line break', (text: string) => `${text}\n`],
])('a long attachment with %s is refused', async (_, damage) => {
  const { fixture } = await openReadingFixture();
  const block = file(bytesOf(150_000));
  block.source.data = damage(block.source.data);
  const got = await post(fixture, turn([block]));
  expect(got.status).toBe(422);
  expect(messageOf(got)).toBe('messages[0].content[0].source.data: must be standard Base64');
});

test('a long text is read with its escapes and its characters whole', async () => {
  const { fixture, texts } = await openReadingFixture();
  const text = 'Grüße 😀 "\\/\n\t'.repeat(9_000);
  const escaped = JSON.stringify(turn(text)).replaceAll('ü', '\\u00fc').replaceAll('😀', '\\ud83d\\ude00');
  expect((await post(fixture, escaped)).status).toBe(200);
  expect((await post(fixture, turn([{ type: 'text', text }]))).status).toBe(200);
  expect(texts).toEqual([text, text]);
});

test('the text of a turn is counted over all its blocks, in bytes, and refused with 413', {
  tags: ['A5-text'],
}, async () => {
  const { fixture, texts } = await openReadingFixture();
  const blocks = (count: number, bytes: number) =>
    Array.from({ length: count }, () => ({ type: 'text', text: 'é'.repeat(bytes / 2) }));
  expect((await post(fixture, turn(blocks(16, 65_536)))).status).toBe(200);
  expect(texts.join('').length * 2).toBe(MEGABYTE);
  for (const content of [blocks(17, 65_536), blocks(1_000, 1_050), 'x'.repeat(MEGABYTE + 1)]) {
    const got = await post(fixture, turn(content));
    expect(got.status).toBe(413);
    expect(messageOf(got)).toMatch(/the text of a turn must be at most 1 MB$/);
  }
});

test('what clients repeat of earlier turns does not count as text of this one', async () => {
  const { fixture, texts } = await openReadingFixture();
  const messages = [
    ...Array.from({ length: 4 }, () => ({ role: 'user', content: 'x'.repeat(MEGABYTE) })),
    { role: 'user', content: 'Now.' },
  ];
  expect((await post(fixture, { model: 'errand', messages })).status).toBe(200);
  expect(texts).toEqual(['Now.']);
});

test('short texts that are too many to be parsed at once are refused with 413', async () => {
  const { fixture } = await openReadingFixture();
  const messages = Array.from({ length: 300 }, () => ({ role: 'user', content: 'x'.repeat(10_000) }));
  const got = await post(fixture, { model: 'errand', messages });
  expect(got.status).toBe(413);
  expect(messageOf(got)).toMatch(
    /^messages\[209\]\.content: here the body exceeds 2097152 bytes in addition to its attachments and long texts/,
  );
});

test.each([
  ['model', { model: 'm'.repeat(70_000) }, 'model: is too long'],
  ['idempotency_key', { idempotency_key: 'k'.repeat(70_000) }, 'idempotency_key: is too long'],
  [
    'a schema',
    { output_format: { type: 'json_schema', schema: { type: 'string', const: 'c'.repeat(70_000) } } },
    'output_format.schema: must be at most 64 KB',
  ],
])('a long string in a place for short ones is refused, and its stand-in is never used: %s', async (_, more, words) => {
  const { fixture } = await openReadingFixture();
  const got = await post(fixture, turn('Hi', more));
  expect(got.status).toBe(422);
  expect(messageOf(got)).toBe(words);
});

test('a text that looks like a stand-in is refused', async () => {
  const { fixture } = await openReadingFixture();
  expect((await post(fixture, turn('\u0000spooled:0'))).status).toBe(422);
});

test.each([
  ['a character of one byte too few', [0xe4, 0xb8]],
  ['a byte that begins nothing', [0xbf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
])('a body is refused with 400 whose long string holds %s', async (_, bytes) => {
  const { fixture } = await openReadingFixture();
  const [head, tail] = JSON.stringify(turn('@')).split('@');
  const body = Buffer.concat([Buffer.from(head + 'x'.repeat(100_000)), Buffer.from(bytes), Buffer.from(tail!)]);
  const got = await post(fixture, body);
  expect(got.status).toBe(400);
  expect(messageOf(got)).toBe('The body is not valid UTF-8.');
});

test('more values than a body may hold are refused before they are parsed', { tags: ['A5-limits'] }, async () => {
  const { fixture } = await openReadingFixture({
    settings: { limits: { ...SETTINGS.limits, maxNodes: 1_000 } },
  });
  const got = await post(fixture, turn('Hi', { extra: Array.from({ length: 1_000 }, () => 0) }));
  expect(got.status).toBe(422);
  expect(messageOf(got)).toMatch(/^extra\[99\d\]: the body must hold at most 1000 values$/);
  const names = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, 0]));
  const named = await post(fixture, turn('Hi', { names }));
  expect(messageOf(named)).toMatch(/^names\.99\d: the body must hold at most 1000 values$/);
});

/** Begins a request and leaves its body where it is. */
async function begin(fixture: Fixture, { length, body = '', as = 'conversation-key' }: Begun): Promise<Heard> {
  const heard = { socket: connect(fixture.port, '127.0.0.1'), text: '', closed: false };
  onTestFinished(() => void heard.socket.destroy());
  heard.socket.on('data', (chunk: Buffer) => (heard.text += chunk.toString()));
  heard.socket.on('error', () => undefined);
  heard.socket.on('close', () => (heard.closed = true));
  const framing = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  const head = `POST ${MESSAGES} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${as}\r\n`;
  await new Promise<void>((resolve) => heard.socket.write(`${head}${framing}\r\n\r\n${body}`, () => resolve()));
  return heard;
}

interface Begun {
  readonly length: number | null;
  readonly body?: string;
  readonly as?: string;
}

interface Heard {
  readonly socket: Socket;
  readonly text: string;
  readonly closed: boolean;
}

test('bodies that would be held beyond the limit get 503 with Retry-After, until one is let go', async () => {
  // 4 MB for all, and 3 MB for one user. The bodies in progress never end.
  const { fixture } = await openReadingFixture({ settings: { limits: { ...SETTINGS.limits, bodiesInFlightMb: 4 } } });
  const small = turn('Hi');
  const first = await begin(fixture, { length: 3 * MEGABYTE, body: '{' });
  const refused = await waitFor(async () => {
    const got = await post(fixture, small);
    return got.status === 503 && got;
  });
  expect(refused.headers['retry-after']).toBe('5');
  first.socket.destroy();
  await waitFor(async () => (await post(fixture, small)).status === 200);
});

test('a body of unknown length counts as it arrives', async () => {
  const { fixture } = await openReadingFixture({ settings: { limits: { ...SETTINGS.limits, bodiesInFlightMb: 1 } } });
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  const beginFull = () => begin(fixture, { length: null, body: chunk.repeat(16) });
  let first = await beginFull();
  await waitFor(async () => {
    // A turn that is held while the last chunk arrives leaves it no room.
    if (first.text !== '') first = await beginFull();
    return (await post(fixture, turn('Hi'))).status === 503;
  });
  first.socket.write(chunk);
  await waitFor(() => first.text.startsWith('HTTP/1.1 503 '));
  await waitFor(async () => (await post(fixture, turn('Hi'))).status === 200);
});

test('a turn that waits for its answer holds nothing of its body', async () => {
  const answers: (() => void)[] = [];
  const { fixture, spools } = await openReadingFixture({
    settings: { limits: { ...SETTINGS.limits, bodiesInFlightMb: 1 } },
    operations: {
      awaitResult: async (_, run) => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return { ...run, status: 'completed', answer: 'Done.', stopReason: 'end_turn' };
      },
    },
  });
  // Each body needs most of what there is for all.
  const waiting = [];
  for (const count of [1, 2, 3]) {
    waiting.push(post(fixture, turn([file(bytesOf(600_000))])));
    await waitFor(() => answers.length === count);
    expect(spools()).toBe(0);
  }
  for (const answer of answers) answer();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('a body that hardly arrives is given up with 408, and its connection closed', async () => {
  const clock = fakeClock();
  const { fixture } = await openReadingFixture({ parts: { clock } });
  const slow = await begin(fixture, { length: 1_000, body: '{' });
  await waitFor(async () => {
    clock.advance(1_000);
    return slow.text.startsWith('HTTP/1.1 408 ');
  });
  await waitFor(() => {
    clock.advance(1_000);
    return slow.closed;
  });
});

test('whoever is refused while the body is still to come is not waited for', async () => {
  const clock = fakeClock();
  const { fixture } = await openReadingFixture({ parts: { clock } });
  const slow = await begin(fixture, { length: 1_000, body: '{', as: 'nobody' });
  await waitFor(() => slow.text.startsWith('HTTP/1.1 401 '));
  await waitFor(() => {
    clock.advance(1_000);
    return slow.closed;
  });
});

/** A request whose body comes a chunk at a time. `pause`: of the thread. */
function bodyOf(pause: Pause, take: (bytes: number) => void = () => undefined) {
  const request = new PassThrough({ highWaterMark: MEGABYTE });
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  const body = readJsonBody(Object.assign(request, { headers }) as unknown as IncomingMessage, {} as ServerResponse, {
    rules: { limitBytes: MEGABYTE, limitParsedBytes: MEGABYTE, maxNodes: 10, optional: false, lays: true },
    share: { take, release: () => undefined },
    openSpool: makeOpenSpool(temporaryDirectory()),
    clock: fakeClock(),
    pause,
  });
  return { request, body };
}

test('each further chunk of a body waits for its slice of the thread', async () => {
  const slices: (() => void)[] = [];
  let taken = 0;
  const pause = () => new Promise<void>((resolve) => slices.push(resolve));
  const { request, body } = bodyOf(pause, (bytes) => (taken += bytes));
  const chunks = ['{"text":"', 'some of it, ', 'the rest"}'];
  for (const [index, chunk] of chunks.entries()) {
    request.write(chunk);
    await waitFor(() => taken > 0 && slices.length === index);
    expect(taken).toBe(chunks.slice(0, Math.max(1, index)).join('').length);
    slices.at(-1)?.();
  }
  request.end();
  await waitFor(() => slices.length === chunks.length);
  slices.at(-1)!();
  expect((await body).value).toEqual({ text: 'some of it, the rest' });
});

test('reading a long string waits for a slice after each chunk, also after the last', async () => {
  let pauses = 0;
  const { request, body } = bodyOf(async () => void (pauses += 1));
  const long = 'long "text" '.repeat(10_000);
  request.end(JSON.stringify({ text: long }));
  const { value, spooled, release } = await body;
  pauses = 0;
  let [chunks, read] = [0, ''];
  for await (const piece of spooled.find(value['text'] as string)!.pieces()) {
    expect(pauses).toBe(chunks);
    chunks += 1;
    read += piece;
  }
  expect(read).toBe(long);
  expect(chunks).toBeGreaterThan(1);
  expect(pauses).toBe(chunks);
  await release();
});
