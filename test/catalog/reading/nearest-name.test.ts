import { expect, test } from 'vitest';
import { didYouMean, nearestName } from '../../../src/catalog/reading/nearest-name.ts';

const KNOWN = ['listen', 'public_url', 'wait_timeout_seconds'];

test.each([
  ['lisen', 'listen'],
  ['litsen', 'listen'],
  ['LISTEN', 'listen'],
  ['publicurl', 'public_url'],
  ['wait_timeout_second', 'wait_timeout_seconds'],
])('%s probably means %s', (typed, meant) => {
  expect(nearestName(typed, KNOWN)).toBe(meant);
});

test('a name that resembles no other gets no suggestion', () => {
  expect(nearestName('threads', KNOWN)).toBeUndefined();
  expect(didYouMean('threads', KNOWN)).toBe('');
});

test('a name of a megabyte is passed over at once', () => {
  expect(nearestName('l'.repeat(1_000_000), KNOWN)).toBeUndefined();
});
