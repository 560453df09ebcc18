// Pipelined requests: each is begun in its turn, and a client doesn't queue as many as it likes.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { publishedFixture } from '../../support/http/published-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a.example\r\n${more}\r\n`;

function connect(port: number) {
  const socket = createConnection({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  return socket;
}

test('a client that asks for a large file many times at once has it open once', async () => {
  const { fixture, site, blobs } = await publishedFixture();
  const { base } = await site({ '/large.bin': randomBytes(20_000_000) });
  let [open, most] = [0, 0];
  const { open: openBlob } = blobs;
  blobs.open = async (key) => {
    const blob = await openBlob(key);
    most = Math.max(most, (open += 1));
    return { ...blob, close: async () => blob.close().finally(() => (open -= 1)) };
  };
  const socket = connect(fixture.port).pause();
  socket.write(get(`${base}/content`).repeat(30));
  await waitFor(() => open > 0);
  // Whatever was begun with it has been begun by then.
  expect(await (await fetch(`http://127.0.0.1:${fixture.port}${base}`)).json()).toMatchObject({ code: 0 });
  expect([open, most]).toEqual([1, 1]);
  socket.destroy();
  await waitFor(() => open === 0);
  expect(most).toBe(1);
});

test('pipelined requests are answered in their order', async () => {
  const { fixture, site } = await publishedFixture();
  const { base } = await site({ '/index.html': 'first', '/a.txt': 'second' });
  const socket = connect(fixture.port);
  const paths = [`${base}/content`, `${base}/assets/a.txt`, '/nowhere', `${base}/content`];
  socket.write(paths.map((path, i) => get(path, i === 3 ? 'Connection: close\r\n' : '')).join(''));
  const text = (await buffer(socket)).toString();
  expect(text.match(/HTTP\/1\.1 \d+|first|second/g)).toEqual(
    'HTTP/1.1 200,first,HTTP/1.1 200,second,HTTP/1.1 404,HTTP/1.1 200,first'.split(','),
  );
});

test('a client that sends more than 64 requests ahead is disconnected', async () => {
  const { fixture, site } = await publishedFixture();
  const { base } = await site({ '/large.bin': randomBytes(20_000_000) });
  const socket = connect(fixture.port).pause();
  socket.on('error', () => undefined);
  socket.write(get(`${base}/content`).repeat(80));
  await once(socket.resume(), 'close');
});
