// What systemd passes to the process: read where it is meant for it, and ignored elsewhere.
import { expect, test } from 'vitest';
import { readServiceEnvironment } from '../../src/service-manager/environment.ts';

test('without a service manager there is nothing', () => {
  expect(readServiceEnvironment({ NOTIFY_SOCKET: '' }, 7)).toEqual({
    notifySocket: null,
    searchPath: null,
    watchdogMs: null,
    sockets: [],
    journalStream: null,
  });
});

test('sockets have their names, the first has descriptor 3', () => {
  const environment = { LISTEN_PID: '7', LISTEN_FDS: '3', LISTEN_FDNAMES: 'http::other' };
  expect(readServiceEnvironment(environment, 7).sockets).toEqual([
    { fd: 3, name: 'http' },
    { fd: 4, name: 'unknown' },
    { fd: 5, name: 'other' },
  ]);
});

test.each([
  ['those of a parent', { LISTEN_PID: '6', LISTEN_FDS: '1' }],
  ['those of nobody', { LISTEN_FDS: '1' }],
  ['a number that is none', { LISTEN_PID: '7', LISTEN_FDS: '1x' }],
  ['a negative number', { LISTEN_PID: '7', LISTEN_FDS: '-1' }],
])('sockets are ignored: %s', (_, environment) => {
  expect(readServiceEnvironment(environment, 7).sockets).toEqual([]);
});

test('no environment makes the list of sockets long', () => {
  expect(readServiceEnvironment({ LISTEN_PID: '7', LISTEN_FDS: '999999999' }, 7).sockets).toHaveLength(64);
});

test.each([
  [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 30_000],
  [{ WATCHDOG_USEC: '30000000' }, 30_000],
  [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '6' }, null],
  [{ WATCHDOG_USEC: '0', WATCHDOG_PID: '7' }, null],
  [{ WATCHDOG_USEC: 'soon' }, null],
])('the limit between two signs of life: %o', (environment, watchdogMs) => {
  expect(readServiceEnvironment(environment, 7).watchdogMs).toBe(watchdogMs);
});
