// Files by their signed addresses, over real connections: whole, in part, not at all, and for clients that leave.
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { Agent, get, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openBlobsInFiles } from '../../support/files/blobs-in-files.ts';
import { makeFileAddresses } from '../../../src/files/file-address.ts';
import { openMasterKey } from '../../../src/files/master-key.ts';
import { makeOpenFile } from '../../../src/operations/sessions/open-file.ts';
import { openFixture, send } from '../../support/http/http-fixture.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const NO_DOWNLOADS = {
  downloadArchive: () => {
    throw new Error('No archive is to be packed.');
  },
};

const NO_ARCHIVES = {
  get: () => {
    throw new Error('No archive is to be packed.');
  },
};

async function filesFixture(collector: Parameters<typeof makeOpenFile>[0]['collector'] = NO_DOWNLOADS) {
  const { accept, store, clock } = await storeFixture();
  const directory = temporaryDirectory();
  const blobs = await openBlobsInFiles(join(directory, 'blobs'));
  const deriveKey = openMasterKey({ path: join(directory, 'master.key'), isCredential: false });
  const fileAddresses = makeFileAddresses({ deriveKey, now: clock.now });
  const fixture = await openFixture({
    operations: {
      openFile: makeOpenFile({ store, blobs, fileAddresses, collector, emptyArchives: NO_ARCHIVES, clock }),
    },
    parts: { clock },
  });
  const { sessionId, sessionSeq } = await accept();
  const put = async (content: string | Buffer) => blobs.hold().put(Buffer.from(content));
  return {
    ...fixture,
    clock,
    blobs,
    put,
    /** The path of a file's address. */
    address: async (name: string, content: string | Buffer, disposition: 'inline' | 'attachment' = 'inline') =>
      fileAddresses.sign({ key: await put(content), sessionId, name, disposition }),
    sign: (key: string, name: string) => fileAddresses.sign({ key, sessionId, name, disposition: 'inline' }),
    deleteSession: async () => store.sessions.deleteSession(sessionSeq),
    /** Descriptors of this process that lead to blobs. */
    openBlobs: () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(join(directory, 'blobs'));
        } catch {
          return false;
        }
      }).length,
  };
}

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

test('a preview arrives complete, with all headers that keep it from acting as the daemon', async () => {
  const fixture = await filesFixture();
  const got = await send(fixture, { path: await fixture.address('notes.md', '# Tides') });
  expect([got.status, got.text]).toEqual([200, '# Tides']);
  expect(got.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': 'inline; filename=notes.md',
    'content-length': '7',
    'accept-ranges': 'bytes',
    etag: `"${sha256('# Tides')}"`,
    'cache-control': 'private, max-age=900, immutable',
    'content-security-policy': expect.stringMatching(/^default-src 'none';.*; sandbox$/),
    'cross-origin-resource-policy': 'cross-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  expect(got.headers['set-cookie']).toBeUndefined();
  expect(got.headers['content-security-policy']).not.toContain('allow');
});

test('a page that could run scripts is a download, even when a preview is asked for', {
  tags: ['E7-bytes'],
}, async () => {
  const fixture = await filesFixture();
  for (const [name, type] of [
    ['page.html', 'text/html'],
    ['drawing.svg', 'image/svg+xml'],
  ] as const) {
    const got = await send(fixture, { path: await fixture.address(name, '<script>alert(1)</script>') });
    expect(got.headers).toMatchObject({
      'content-type': type,
      'content-disposition': `attachment; filename=${name}`,
    });
  }
});

test('a PDF is displayed outside a sandbox, where viewers work, and still can’t load anything', async () => {
  const fixture = await filesFixture();
  const got = await send(fixture, { path: await fixture.address('a.pdf', '%PDF-1.7') });
  expect(got.headers['content-type']).toBe('application/pdf');
  expect(got.headers['content-security-policy']).toMatch(/^default-src 'none'/);
  expect(got.headers['content-security-policy']).not.toContain('sandbox');
});

test.each([
  ['Räport ü.pdf', `attachment; filename="R?port ?.pdf"; filename*=UTF-8''R%C3%A4port%20%C3%BC.pdf`],
  ['quote".txt', 'attachment; filename="quote\\".txt"'],
])('a download of %s has its name', async (name, disposition) => {
  const fixture = await filesFixture();
  const got = await send(fixture, { path: await fixture.address(name, 'x', 'attachment') });
  expect(got.headers['content-disposition']).toBe(disposition);
});

test.each(['new\nline\r.txt', 'tab\t.txt', '\u0001.txt', '..', '%2F.txt', "a'b(c)*.txt", '\u{1F30A}.txt'])(
  'the odd name %j is served, and no header breaks of it',
  async (name) => {
    const fixture = await filesFixture();
    const got = await send(fixture, { path: await fixture.address(name, 'x', 'attachment') });
    expect([got.status, got.text]).toEqual([200, 'x']);
  },
);

const TEN = '0123456789';

/** The results of requests for parts of ten bytes. */
const RANGES: readonly (readonly [range: string, status: number, part: string, contentRange: string | undefined])[] = [
  ['bytes=0-4', 206, '01234', 'bytes 0-4/10'],
  ['bytes=4-4', 206, '4', 'bytes 4-4/10'],
  ['bytes=5-', 206, '56789', 'bytes 5-9/10'],
  ['bytes=0-', 206, TEN, 'bytes 0-9/10'],
  ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
  ['bytes=-3', 206, '789', 'bytes 7-9/10'],
  ['bytes=-10', 206, TEN, 'bytes 0-9/10'],
  ['bytes=-500', 206, TEN, 'bytes 0-9/10'],
  ['Bytes=0-0', 206, '0', 'bytes 0-0/10'],
  ['bytes=10-', 416, '', 'bytes */10'],
  ['bytes=10-20', 416, '', 'bytes */10'],
  ['bytes=-0', 416, '', 'bytes */10'],
  ['bytes=0-1,4-5', 200, TEN, undefined],
  ['bytes=a-b', 200, TEN, undefined],
  ['bytes=', 200, TEN, undefined],
  ['bytes', 200, TEN, undefined],
  ['items=0-4', 200, TEN, undefined],
  ['bytes=0x0-4', 200, TEN, undefined],
];

test.each(RANGES)('Range: %s answers %i', { tags: ['E7-bytes'] }, async (range, status, part, contentRange) => {
  const fixture = await filesFixture();
  const got = await send(fixture, { path: await fixture.address('a.txt', TEN), headers: { range } });
  expect([got.status, got.headers['content-range']]).toEqual([status, contentRange]);
  if (status === 416) expect(got.json).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  else expect([got.text, got.headers['content-length']]).toEqual([part, String(part.length)]);
});

test('a range counts only for the content that the client has the other parts of', async () => {
  const fixture = await filesFixture();
  const path = await fixture.address('a.txt', TEN);
  const ask = async (ifRange: string) =>
    (await send(fixture, { path, headers: { range: 'bytes=0-1', 'if-range': ifRange } })).status;
  expect(await ask(`"${sha256(TEN)}"`)).toBe(206);
  expect(await ask(`W/"${sha256(TEN)}"`)).toBe(200);
  expect(await ask('"other"')).toBe(200);
  expect(await ask('Sun, 01 Mar 2026 12:00:00 GMT')).toBe(200);
});

test('a client that already has the content gets none', { tags: ['E7-bytes'] }, async () => {
  const fixture = await filesFixture();
  const path = await fixture.address('a.txt', TEN);
  for (const known of [`"${sha256(TEN)}"`, `"x", W/"${sha256(TEN)}"`, '*']) {
    const got = await send(fixture, { path, headers: { 'if-none-match': known } });
    expect([got.status, got.text, got.headers.etag]).toEqual([304, '', `"${sha256(TEN)}"`]);
    expect(got.headers['content-length']).toBeUndefined();
  }
  expect((await send(fixture, { path, headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  await waitFor(() => fixture.openBlobs() === 0);
});

test('HEAD returns the headers of GET, without a body', { tags: ['E7-bytes'] }, async () => {
  const fixture = await filesFixture();
  const path = await fixture.address('a.txt', TEN);
  const [head, whole] = [
    await send(fixture, { method: 'HEAD', path, headers: { range: 'bytes=0-1' } }),
    await send(fixture, { path }),
  ];
  const { 'x-request-id': _one, date: _two, ...headers } = head.headers;
  expect([head.status, head.text]).toEqual([200, '']);
  expect(whole.headers).toMatchObject(headers);
  await waitFor(() => fixture.openBlobs() === 0);
});

test('an empty file is an ordinary one', async () => {
  const fixture = await filesFixture();
  const path = await fixture.address('empty.txt', '');
  expect(await send(fixture, { path })).toMatchObject({ status: 200, text: '', headers: { 'content-length': '0' } });
  expect((await send(fixture, { path, headers: { range: 'bytes=0-' } })).status).toBe(416);
  await waitFor(() => fixture.openBlobs() === 0);
});

test('an expired or altered address is refused, and so are those of a deleted session and of a blob that is gone', {
  tags: ['E7-signed'],
}, async () => {
  const fixture = await filesFixture();
  const path = await fixture.address('a.txt', TEN);
  const refused = async (target: string) => {
    const { status, json } = await send(fixture, { path: target });
    return [status, (json as { error?: { type: string; message: string } }).error?.message];
  };
  expect(await refused(path.replace('a.txt', 'b.txt'))).toEqual([403, 'The address is not valid.']);
  expect(await refused('/files/a/b')).toEqual([403, 'The address is not valid.']);
  expect(await refused('/files/a')).toEqual([404, 'No such endpoint.']);
  expect(await refused('/files/../files/a/b/c')).toEqual([404, 'No such endpoint.']);
  expect(await refused(fixture.sign('0'.repeat(64), 'a.txt'))).toEqual([404, 'File not found.']);
  fixture.clock.advance(899_000);
  expect((await send(fixture, { path })).headers['cache-control']).toBe('private, max-age=1, immutable');
  fixture.clock.advance(1_000);
  expect(await refused(path)).toEqual([403, 'The address has expired.']);
  const fresh = await fixture.address('a.txt', TEN);
  expect((await send(fixture, { path: fresh })).status).toBe(200);
  await fixture.deleteSession();
  expect(await refused(fresh)).toEqual([404, 'File not found.']);
});

test('an address with a query, and one that a client has encoded again, is the same', async () => {
  const fixture = await filesFixture();
  const path = await fixture.address("it's.txt", TEN);
  expect((await send(fixture, { path: `${path}?download=1` })).text).toBe(TEN);
  expect((await send(fixture, { path: path.replace("'", '%27') })).text).toBe(TEN);
  expect((await send(fixture, { method: 'POST', path })).status).toBe(405);
});

test('the log names the file and not the address, which is as good as a key', async () => {
  const fixture = await filesFixture();
  const path = await fixture.address('a.txt', TEN);
  await send(fixture, { path });
  await send(fixture, { path: path.replace('a.txt', 'b.txt') });
  await waitFor(() => fixture.lines.length === 2);
  expect(new Set(fixture.lines.map((line) => line['path']))).toEqual(new Set(['/files/…/a.txt', '/files/…/b.txt']));
  expect(JSON.stringify(fixture.lines)).not.toContain(path.slice(10, 60));
});

test('fifty clients at once each get all of their own', async () => {
  const fixture = await filesFixture();
  const contents = Array.from({ length: 50 }, (_, i) => Buffer.concat([randomBytes(300_000 + i), Buffer.from([i])]));
  const paths = await Promise.all(contents.map((bytes, i) => fixture.address(`f${i}.bin`, bytes)));
  const hashes = await Promise.all(paths.map((path) => download(fixture.port, path)));
  expect(hashes).toEqual(contents.map((bytes) => sha256(bytes)));
  await waitFor(() => fixture.openBlobs() === 0);
});

async function download(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (res) => {
      const hash = createHash('sha256');
      res.on('data', (chunk: Buffer) => hash.update(chunk));
      res.on('end', () => resolve(hash.digest('hex')));
      res.on('error', reject);
    }).on('error', reject);
  });
}

test('two hundred clients that leave in the middle leave no descriptor open, and are not logged as faults', async () => {
  const fixture = await filesFixture();
  const path = await fixture.address('large.bin', randomBytes(8_000_000));
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        await new Promise<void>((resolve, reject) => {
          const req = httpRequest({ host: '127.0.0.1', port: fixture.port, path, agent: false });
          req.on('response', (res) => {
            res.once('data', () => {
              req.destroy();
              resolve();
            });
            res.on('error', () => undefined);
          });
          req.on('error', reject);
          req.end();
        });
      }),
    );
  }
  await waitFor(() => fixture.openBlobs() === 0);
  await waitFor(() => fixture.lines.length === 200);
  expect(fixture.lines.filter((line) => line['level'] !== 'info')).toEqual([]);
  expect(await download(fixture.port, path)).toHaveLength(64);
});

test('a blob removed while it is sent arrives complete', async () => {
  const fixture = await filesFixture();
  const bytes = randomBytes(8_000_000);
  const path = await fixture.address('large.bin', bytes);
  const hash = createHash('sha256');
  const key = sha256(bytes);
  await new Promise<void>((resolve, reject) => {
    get({ host: '127.0.0.1', port: fixture.port, path, agent: false }, (res) => {
      res.once('data', () => void fixture.blobs.removeUnless(key, async () => false));
      res.on('data', (chunk: Buffer) => hash.update(chunk));
      res.on('end', resolve);
      res.on('error', reject);
    }).on('error', reject);
  });
  expect(hash.digest('hex')).toBe(key);
});

test('a connection stays usable after a download, whole or in part', async () => {
  const fixture = await filesFixture();
  const path = await fixture.address('a.txt', TEN);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ports = new Set<number | undefined>();
  for (const headers of [{}, { range: 'bytes=1-2' }, { range: 'bytes=50-' }, { 'if-none-match': '*' }]) {
    await new Promise<void>((resolve, reject) => {
      get({ host: '127.0.0.1', port: fixture.port, path, agent, headers }, (res) => {
        ports.add(res.socket.localPort);
        res.resume().on('end', resolve).on('error', reject);
      }).on('error', reject);
    });
  }
  expect(ports.size).toBe(1);
});

test('an archive is sent while it is packed, without its size; one that can’t be packed ends in the middle', async () => {
  for (const fails of [false, true]) {
    const packed = Promise.withResolvers<{ archive: { key: string; size: number }; isKept: boolean }>();
    packed.promise.catch(() => undefined);
    const written = { bytes: Buffer.from('one half, ') };
    const open = async () => ({
      read: async (bytes: Uint8Array, start: number) => written.bytes.copy(bytes, 0, start),
      size: async () => written.bytes.length,
      close: async () => undefined,
    });
    const fixture = await filesFixture({ downloadArchive: () => ({ packed: packed.promise, open }) });
    const got = Promise.withResolvers<{ headers: object; text: string; isWhole: boolean }>();
    const path = fixture.sign('run-1-1', 'run.tar.gz');
    let hasBegun = false;
    const asked = get(`${fixture.url}${path}`, (response) => {
      let text = '';
      hasBegun = true;
      response.on('data', (piece: Buffer) => {
        text += piece.toString();
        if (text !== 'one half, ') return;
        if (fails) return packed.reject(new Error('No space.'));
        written.bytes = Buffer.from('one half, and the other');
        packed.resolve({ archive: { key: sha256(written.bytes), size: written.bytes.length }, isKept: true });
      });
      response.on('close', () => got.resolve({ headers: response.headers, text, isWhole: response.complete }));
      response.on('error', () => undefined);
    });
    asked.on('error', (error) => got.reject(error));
    // It isn't packed soon.
    await waitFor(() => {
      fixture.clock.advance(2_000);
      return hasBegun;
    });
    const { headers, text, isWhole } = await got.promise;
    expect([text, isWhole]).toEqual(fails ? ['one half, ', false] : ['one half, and the other', true]);
    expect(headers).toMatchObject({
      'accept-ranges': 'none',
      'cache-control': 'private, no-store',
      'transfer-encoding': 'chunked',
    });
  }
});
