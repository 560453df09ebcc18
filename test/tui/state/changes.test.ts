import { expect, test } from 'vitest';
import { changesOf } from '../../../src/tui/state/changes.ts';

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;
const shown = (before: string, after: string) =>
  changesOf('edit_file', { old_text: before, new_text: after })?.lines.map(({ kind, text }) => SIGNS[kind] + text);

test('an edit shows the lines that go and come, with a few around them', () => {
  expect(shown('a\nb\nc\nd\ne', 'a\nb\nc\nD\ne')).toEqual([' b', ' c', '-d', '+D', ' e']);
  expect(shown('one\ntwo\nthree', 'zero\none\nthree\nfour')).toEqual(['+zero', ' one', '-two', ' three', '+four']);
  expect(shown('x', '')).toEqual(['-x']);
  expect(changesOf('edit_file', { old_text: 'a\nb', new_text: 'a\nc\nd' })).toMatchObject({ added: 2, removed: 1 });
});

test('long texts are not compared line by line', () => {
  const lines = (word: string) => Array.from({ length: 400 }, (_, at) => `${word} ${at}`).join('\n');
  expect(changesOf('edit_file', { old_text: lines('a'), new_text: lines('b') })).toMatchObject({
    added: 400,
    removed: 400,
  });
});

test('a write shows its text; other calls, and inputs of other shapes, change nothing that is known', () => {
  expect(changesOf('write_file', { path: 'x', content: '# A\n\nb\n' })?.lines).toEqual([
    { kind: 'added', text: '# A' },
    { kind: 'added', text: '' },
    { kind: 'added', text: 'b' },
  ]);
  expect(changesOf('write_file', { content: 7 })).toBeNull();
  expect(changesOf('edit_file', {})).toBeNull();
  expect(changesOf('shell', { command: 'ls' })).toBeNull();
});
