import { expect, test } from 'vitest';
import { addressOf, screensOf } from '../../../src/browser/app/address.ts';
import { desk } from '../../../src/tui/state/desk-state.ts';
import { floor } from '../../../src/tui/state/screens.ts';

const ID = '0198c0de-0000-7000-9000-000000000001';

test('what the floor is narrowed by is in its address, and comes back from there', () => {
  const narrowed = floor({ teamId: 't 1&2', status: 'failed', order: 'cost', isReversed: true, find: 'ä?#' });
  const address = addressOf(narrowed);
  expect(screensOf('', address)).toEqual([narrowed]);
  expect(addressOf(floor())).toBe('');
});

test('a session has an address, with its tab', () => {
  expect(addressOf({ ...desk(ID), tab: 'files' })).toBe(`/sessions/${ID}?tab=files`);
  expect(screensOf(`/sessions/${ID}`, '?tab=files')).toEqual([floor(), { ...desk(ID), tab: 'files' }]);
});

test.each([
  ['/elsewhere', '?status=evil&order=__proto__&tab=x'],
  ['/sessions/../../etc', ''],
  ['/sessions/<script>', '?team='],
])('an address that means nothing shows the floor: %s%s', (path, query) => {
  expect(screensOf(path, query)).toEqual([floor()]);
});

test('a text of an address is cut', () => {
  const [screen] = screensOf('', `?find=${'x'.repeat(10_000)}`);
  expect(screen?.name === 'floor' && screen.find).toHaveLength(200);
});
