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
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const read = async () => {
    next?.();
    await turn();
  };
  return { stream, taken, read, turn };
}

test('lines are buffered up to a limit, the rest is counted, and reported where it is missing', async () => {
  const { stream, taken, read, turn } = slowStream();
  const outlet = makeStreamOutlet(stream, { maxHeldBytes: 20 });
  for (const line of ['first line\n', 'second\n', 'third\n', 'fourth\n', '5\n']) outlet.write(line);
  await turn();
  expect(taken).toEqual(['first line\n']);
  await read();
  // Not before everything held was written: the gap is reported in one place.
  outlet.write('sixth\n');
  await read();
  await read();
  expect(taken.slice(0, 2)).toEqual(['first line\n', 'second\n']);
  expect(JSON.parse(taken[2]!)).toMatchObject({ level: 'warn', dropped: 4 });
  outlet.write('seventh\n');
  await turn();
  await read();
  expect(taken.slice(3)).toEqual(['seventh\n']);
});

test('a line longer than the limit is written when nothing waits', async () => {
  const { stream, taken, turn } = slowStream();
  makeStreamOutlet(stream, { maxHeldBytes: 4 }).write('a long line\n');
  await turn();
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
  const { stream, taken, read, turn } = slowStream();
  const render = (line: string) => `<${line.trimEnd()}>\n`;
  const outlet = makeStreamOutlet(stream, { maxHeldBytes: 12, render });
  for (const line of ['first\n', 'second\n', 'third\n']) outlet.write(line);
  await turn();
  expect(taken).toEqual(['<first>\n']);
  await read();
  await read();
  expect(taken.at(-1)).toMatch(/^<\{.*"dropped":2,.*\}>\n$/);
});

/** A stream that records what each write has. */
function recordingStream(maxHeldBytes = 1_000) {
  const writes: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    writev(chunks, done) {
      writes.push(chunks.map(({ chunk }) => chunk as string).join(''));
      done();
    },
  });
  return { writes, outlet: makeStreamOutlet(stream, { maxHeldBytes }) };
}

test('lines that the same code writes, and what it has settled, are one write, made once it has returned', async () => {
  const { writes, outlet } = recordingStream();
  outlet.write('first\n');
  const settled = Promise.resolve().then(() => outlet.write('second\n'));
  expect(writes).toEqual([]);
  await settled;
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes).toEqual(['first\nsecond\n']);
});

test('lines that are gathered take no room from a stream that takes them at once', async () => {
  const { writes, outlet } = recordingStream(8);
  for (const line of ['first\n', 'second line\n', 'third\n']) outlet.write(line);
  outlet.flush();
  expect(writes).toEqual(['first\n', 'second line\n', 'third\n']);
});

test('what was gathered is written at the exit of the process, and later lines as before', async () => {
  const { writes, outlet } = recordingStream();
  outlet.write('last words\n');
  outlet.flush();
  expect(writes).toEqual(['last words\n']);
  outlet.write('more\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes).toEqual(['last words\n', 'more\n']);
});
