// Fewer pieces, the same bytes.
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { batchedBytes } from '../../../src/agent/models/batched-bytes.ts';
import type { Listener } from '../../../src/agent/models/observation.ts';

/** Hears nothing of importance. */
const DEAF: Listener = { take: () => 'more', end: () => undefined };

const decode = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

test('the first piece passes at once, those that follow within the window come together', async () => {
  const body = new PassThrough();
  const reader = batchedBytes(body, () => 60_000, DEAF).getReader();
  body.write('a');
  expect(decode((await reader.read()).value)).toBe('a');
  body.write('b');
  body.write('c');
  body.end('d');
  expect(decode((await reader.read()).value)).toBe('bcd');
  expect((await reader.read()).done).toBe(true);
});

test('a piece that nothing follows leaves when its window ends', async () => {
  const body = new PassThrough();
  const reader = batchedBytes(body, () => 20, DEAF).getReader();
  for (const piece of ['a', 'b', 'c']) {
    body.write(piece);
    expect(decode((await reader.read()).value)).toBe(piece);
  }
  await reader.cancel();
  expect(body.destroyed).toBe(true);
});

test('every byte of a long body arrives in order', async () => {
  const pieces = Array.from({ length: 5_000 }, (_, i) => `${i} `);
  expect(await text(batchedBytes(Readable.from(pieces.map((piece) => Buffer.from(piece))), () => 1, DEAF))).toBe(
    pieces.join(''),
  );
});

test('a broken body breaks the stream', async () => {
  const body = new PassThrough();
  const reader = batchedBytes(body, () => 60_000, DEAF).getReader();
  body.destroy(new Error('reset'));
  await expect(reader.read()).rejects.toThrow('reset');
});

test('a consumer that does not read holds the body back', async () => {
  let made = 0;
  const body = new Readable({
    read() {
      made += 1;
      this.push(Buffer.alloc(16 * 1024));
    },
  });
  const reader = batchedBytes(body, () => 0, DEAF).getReader();
  await reader.read();
  for (let turn = 0; turn < 500; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(made).toBeLessThan(40);
  await reader.cancel();
});

test.each([
  ['last', 'ab'],
  ['fault', 'ab'],
  ['surplus', 'a'],
] as const)('the stream ends when the listener says "%s", whatever follows', async (verdict, expected) => {
  const body = new PassThrough();
  const listener: Listener = { take: (chunk) => (decode(chunk) === 'b' ? verdict : 'more'), end: () => undefined };
  const whole = text(batchedBytes(body, () => 60_000, listener));
  for (const piece of ['a', 'b', 'c']) body.write(piece);
  expect(await whole).toBe(expected);
  body.destroy();
});
