import { expect, test } from 'vitest';
import { nameTools } from '../../../src/agent/mcp/tool-names.ts';

const tool = (server: string, name: string) => ({ server, tool: name });

test('plain names stay as they are', () => {
  expect(nameTools([tool('files', 'read-file'), tool('crm', 'find_user')])).toEqual([
    'mcp__files__read-file',
    'mcp__crm__find_user',
  ]);
});

test('names that would be equal are made unique, in any order', () => {
  const [dot, space] = nameTools([tool('a', 'x.y'), tool('a', 'x y')]) as [string, string];
  expect(dot).not.toBe(space);
  expect(dot).toMatch(/^mcp__a__x_y_[0-9a-f]{6}$/);
  expect(nameTools([tool('a', 'x y'), tool('a', 'x.y')])).toEqual([space, dot]);
  const [plugin, plain] = nameTools([tool('p:s', 't'), tool('p_s', 't')]) as [string, string];
  expect(plugin).not.toBe(plain);
});

test('a long name is cut to what models take, and stays its own', () => {
  const long = 'x'.repeat(70);
  const [one, two] = nameTools([tool('s', `${long}1`), tool('s', `${long}2`)]) as [string, string];
  expect([one.length, two.length]).toEqual([64, 64]);
  expect(one).not.toBe(two);
});
