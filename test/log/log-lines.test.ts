// A file of the log is read as it is written, whatever rotates it.
import { appendFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { logLines } from '../../src/log/log-lines.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { waitFor } from '../support/time/wait-for.ts';

function openFile(content: string) {
  const file = join(temporaryDirectory(), 'errand.log');
  writeFileSync(file, content);
  return file;
}

/** Follows a file; the lines as they come, with a mark where those end that were there. */
function follow(file: string) {
  const stop = new AbortController();
  const seen: string[] = [];
  const ended = (async () => {
    for await (const one of logLines(file, { follow: true, signal: stop.signal }))
      seen.push('caughtUp' in one ? '--' : one.line);
  })();
  onTestFinished(() => stop.abort());
  const has = (line: string) => waitFor(() => seen.includes(line));
  return { seen, has, stop: () => stop.abort(), ended };
}

test('all lines of a file are read, the last one even without its end', async () => {
  const long = 'x'.repeat(200_000);
  const file = openFile(`one\n\n${long}\nlast`);
  const lines: string[] = [];
  for await (const one of logLines(file, { follow: false, signal: new AbortController().signal }))
    if ('line' in one) lines.push(one.line);
  expect(lines).toEqual(['one', '', long, 'last']);
});

test.each([
  [3, []],
  [4, ['four']],
  [5, ['four']],
  [9, ['four']],
  [10, ['three', 'four']],
  [100, ['one', 'two', 'three', 'four']],
])('of the last %i bytes, the lines are read that begin in them', async (lastBytes, expected) => {
  const lines: string[] = [];
  const options = { follow: false, lastBytes, signal: new AbortController().signal };
  for await (const one of logLines(openFile('one\ntwo\nthree\nfour'), options)) if ('line' in one) lines.push(one.line);
  expect(lines).toEqual(expected);
});

test('lines that are appended come when they are complete', async () => {
  const file = openFile('one\nhal');
  const { seen, has, stop, ended } = follow(file);
  await has('--');
  appendFileSync(file, 'f\nthree\n');
  await has('three');
  expect(seen).toEqual(['one', '--', 'half', 'three']);
  stop();
  await ended;
});

test('a file that is renamed is read to its end, and the new one of its name from its beginning', async () => {
  const file = openFile('one\n');
  const { seen, has } = follow(file);
  await has('--');
  renameSync(file, `${file}.1`);
  appendFileSync(`${file}.1`, 'late\n');
  writeFileSync(file, 'new\n');
  await has('new');
  expect(seen).toEqual(['one', '--', 'late', 'new']);
});

test('a file that is truncated is read from its beginning', async () => {
  const file = openFile('a long first line\n');
  const { seen, has } = follow(file);
  await has('--');
  truncateSync(file);
  appendFileSync(file, 'new\n');
  await has('new');
  expect(seen).toEqual(['a long first line', '--', 'new']);
});

test('a line without an end is cut, so that no file fills the memory', async () => {
  const file = openFile('x'.repeat(2_500_000));
  const lengths: number[] = [];
  for await (const one of logLines(file, { follow: false, signal: new AbortController().signal }))
    if ('line' in one) lengths.push(one.line.length);
  expect(lengths.length).toBeGreaterThan(1);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(2_500_000);
});
