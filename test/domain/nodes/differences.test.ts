// Which node counts as the one with another configuration.
import { expect, test } from 'vitest';
import { type Compared, differencesOf, wordsOfDifference } from '../../../src/domain/nodes/differences.ts';

const node = (id: string, configuration: Compared['configuration'], over: Partial<Compared> = {}): Compared => ({
  id,
  version: '1.0.0',
  leader: false,
  configuration,
  ...over,
});
const differing = (...nodes: readonly Compared[]) => Object.fromEntries(differencesOf(nodes));

test('what most nodes have is right, of each name', () => {
  const most = { models: 'a', sso: 'b' };
  expect(differing(node('north', most), node('south', { ...most, sso: 'c' }), node('east', most))).toEqual({
    south: ['sso'],
  });
  expect(differing(node('north', { models: 'z' }), node('south', most), node('east', most))).toEqual({
    north: ['models', 'sso'],
  });
  expect(differing(node('north', most), node('south', { sso: 'b', models: 'a' }))).toEqual({});
});

test('of two nodes the one that leads is right, or else the first', () => {
  const [one, other] = [{ models: 'a' }, { models: 'b', public_url: 'c' }];
  expect(differing(node('north', one), node('south', other, { leader: true }))).toEqual({
    north: ['models', 'public_url'],
  });
  expect(differing(node('north', one), node('south', other))).toEqual({ south: ['models', 'public_url'] });
});

test('nodes of another version aren’t compared, nor are those that say nothing', () => {
  const old = node('south', { models: 'b' }, { version: '0.9.0' });
  expect(differing(node('north', { models: 'a' }), old, node('east', null))).toEqual({});
  expect(differing(node('north', { models: 'a' }), old, node('west', { models: 'c' }, { version: '0.9.0' }))).toEqual({
    west: ['models'],
  });
});

test('few names are told', () => {
  expect(wordsOfDifference({ name: 'south', differs: ['models'] })).toBe(
    'south has another configuration than other nodes: models',
  );
  const differs = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  expect(wordsOfDifference({ name: 'south', differs })).toMatch(/: a, b, c, d, e and 2 more$/);
});
