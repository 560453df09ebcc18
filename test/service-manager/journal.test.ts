// Lines for the journal: which stream it is, and the priority of each.
import { fstatSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isJournal, withPriority } from '../../src/service-manager/journal.ts';

test('the journal is known by device and inode of the stream', () => {
  const fd = openSync('/dev/null', 'r');
  const { dev, ino } = fstatSync(fd);
  expect(isJournal(`${dev}:${ino}`, fd)).toBe(true);
  expect(isJournal(`${dev}:${ino + 1}`, fd)).toBe(false);
  expect(isJournal(null, fd)).toBe(false);
  expect(isJournal(`${dev}:${ino}`, 9_999)).toBe(false);
});

test.each([
  ['fatal', 2],
  ['error', 3],
  ['warn', 4],
  ['info', 6],
  ['debug', 7],
])('a line of level %s has priority %d', (level, priority) => {
  const line = `{"level":"${level}","msg":"x"}\n`;
  expect(withPriority(line)).toBe(`<${priority}>${line}`);
});

test('any other line is information', () => {
  expect(withPriority('text\n')).toBe('<6>text\n');
});
