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

const REQUEST = {
  request_id: '0190f6a0-0000-7000-8000-000000000001',
  method: 'GET',
  path: '/api/v1/runs',
  status: 200,
  duration_ms: 1_240,
  client_address: '127.0.0.1',
  msg: 'request',
};

test('a request is one row of what people read first, with what else is known of it behind', () => {
  expect(line(REQUEST).replace(CLOCK, '')).toBe('info  GET /api/v1/runs 200 1.2 s 127.0.0.1 0190f6a0\n');
  expect(line({ ...REQUEST, client_address: 'socket', run_id: 'r' }).replace(CLOCK, '')).toBe(
    'info  GET /api/v1/runs 200 1.2 s socket 0190f6a0 run_id=r\n',
  );
  const hostile = line({ ...REQUEST, path: '/\u001b[2J\nx\u202e', method: '\u0007GET' });
  expect(hostile).toMatch(/^[\P{Cc}]*\n$/u);
  expect(hostile).not.toContain('\u202e');
});

test('the status of a request that failed has a colour', () => {
  const dressed = (status: number) => makeLogForPeople(true)(`${JSON.stringify({ ...REQUEST, status })}\n`);
  expect(dressed(404)).toContain('\u001b[33m404\u001b[39m');
  expect(dressed(503)).toContain('\u001b[31m503\u001b[39m');
  expect(dressed(200)).toContain(' 200 ');
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
