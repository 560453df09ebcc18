// The log as a terminal shows it.
import { expect, test } from 'vitest';
import { makeLogForPeople } from '../../src/daemon/log-for-people.ts';

const plain = makeLogForPeople(false);
const TIME = '2026-03-01T12:03:04.005Z';
/** The time of day here, which depends on where the test runs. */
const CLOCK = /^\d\d:\d\d:04\.005 /;
const line = (fields: object) => plain(`${JSON.stringify({ level: 'info', time: TIME, ...fields })}\n`);

test('a line has time, level, message and fields, ids last', () => {
  const text = line({ run_id: 'r', method: 'GET', status: 200, path: '/a b', nested: { a: [1] }, msg: 'request' });
  expect(text).toMatch(CLOCK);
  expect(text.replace(CLOCK, '')).toBe('info  request method=GET status=200 path="/a b" nested={"a":[1]} run_id=r\n');
});

test('an error is its message, with the places it came through on lines of their own', () => {
  const err = {
    type: 'Error',
    message: 'no room',
    stack: 'Error: no room\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)',
  };
  expect(line({ level: 'error', err, msg: 'failed' }).replace(CLOCK, '')).toBe(
    'error failed error="no room"\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)\n',
  );
});

test('control sequences of foreign values never reach the terminal', () => {
  const evil = '\u001b[2J\u009b1m\nx\u202e\u0007';
  const err = { message: evil, stack: `${evil}\n    at ${evil}` };
  // The names of fields are foreign too.
  const text = line({ path: evil, [evil]: 1, list: [evil], msg: evil, err });
  expect(text).toMatch(/^[\P{Cc}\n]*$/u);
  expect(text).not.toContain('\u202e');
});

test('a line that is not a JSON object is shown as it is, but safe', () => {
  expect(plain('a line\u001b[2J\n')).toBe('a line\n');
  expect(plain('null\n')).toBe('null\n');
});

test('colours show the level; without them there is no escape sequence', () => {
  const json = `${JSON.stringify({ level: 'warn', time: TIME, msg: 'careful' })}\n`;
  expect(makeLogForPeople(true)(json)).toContain('\u001b[33mwarn \u001b[39m');
  expect(plain(json)).not.toContain('\u001b');
});
