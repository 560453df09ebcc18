import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { makeStreamOutlet } from '../../src/log/log-outlet.ts';

/** A stream whose reader takes a line on demand. */
function slowStream() {
  const taken: string[] = [];
  let next: (() => void) | undefined;
  const stream = new Writable({
    decodeStrings: false,
    highWaterMark: 1,
    write(line: string, _encoding, done) {
      taken.push(line);
      next = done;
    },
  });
  const read = async () => {
    next?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, taken, read };
}

test('lines are buffered up to a limit, the rest is counted, and reported where it is missing', async () => {
  const { stream, taken, read } = slowStream();
  const outlet = makeStreamOutlet(stream, { maxHeldBytes: 20 });
  for (const line of ['first line\n', 'second\n', 'third\n', 'fourth\n', '5\n']) outlet.write(line);
  expect(taken).toEqual(['first line\n']);
  await read();
  // Not before everything held was written: the gap is reported in one place.
  outlet.write('sixth\n');
  await read();
  await read();
  expect(taken.slice(0, 2)).toEqual(['first line\n', 'second\n']);
  expect(JSON.parse(taken[2]!)).toMatchObject({ level: 'warn', dropped: 4 });
  outlet.write('seventh\n');
  await read();
  expect(taken.slice(3)).toEqual(['seventh\n']);
});

test('a line longer than the limit is written when nothing waits', () => {
  const { stream, taken } = slowStream();
  makeStreamOutlet(stream, { maxHeldBytes: 4 }).write('a long line\n');
  expect(taken).toEqual(['a long line\n']);
});

test('a reader that has left is not an error, and nothing is buffered for it', () => {
  const { stream } = slowStream();
  const outlet = makeStreamOutlet(stream, { maxHeldBytes: 4 });
  stream.on('error', () => undefined).destroy(new Error('EPIPE'));
  for (let i = 0; i < 100; i += 1) outlet.write('a line\n');
  expect(stream.writableLength).toBe(0);
});

test('rendered lines are written instead of the JSON, including the one that counts dropped lines', async () => {
  const { stream, taken, read } = slowStream();
  const render = (line: string) => `<${line.trimEnd()}>\n`;
  const outlet = makeStreamOutlet(stream, { maxHeldBytes: 12, render });
  for (const line of ['first\n', 'second\n', 'third\n']) outlet.write(line);
  expect(taken).toEqual(['<first>\n']);
  await read();
  await read();
  expect(taken.at(-1)).toMatch(/^<\{.*"dropped":2,.*\}>\n$/);
});
