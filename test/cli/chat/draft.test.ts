// Typing a message: what keys do to its text and cursor, and where both are on the screen.
import { expect, test } from 'vitest';
import { type Draft, draftOf, EDITS, insert, toLine } from '../../../src/cli/chat/draft.ts';
import { layoutOf, windowOf } from '../../../src/cli/chat/layout.ts';
import { typed } from '../../../src/cli/chat/prompt.ts';

/** A draft whose cursor is at the bar. */
const at = (marked: string): Draft => ({ text: marked.replace('|', ''), cursor: marked.indexOf('|') });
const shown = ({ text, cursor }: Draft) => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

test.each([
  ['left', 'a👩‍👧|b', 'a|👩‍👧b'],
  ['right', 'a|👩‍👧b', 'a👩‍👧|b'],
  ['left', '|ab', '|ab'],
  ['right', 'ab|', 'ab|'],
  ['home', 'one\ntw|o', 'one\n|two'],
  ['home', 'one|\ntwo', '|one\ntwo'],
  ['end', 'o|ne\ntwo', 'one|\ntwo'],
  ['backspace', 'e\u0301|x', '|x'],
  ['backspace', '|x', '|x'],
  ['delete', '|👩‍👧x', '|x'],
  ['delete', 'x|', 'x|'],
  ['C-left', 'one two |', 'one |two '],
  ['C-right', '|one two', 'one| two'],
  ['C-w', 'one two|', 'one |'],
  ['M-d', 'one| two', 'one|'],
  ['C-u', 'one\ntwo|', 'one\n|'],
  ['C-k', 'o|ne\ntwo', 'o|\ntwo'],
  ['C-j', 'a|b', 'a\n|b'],
])('%s makes of %j %j', (key, before, after) => {
  expect(shown(EDITS[key]!(at(before)))).toBe(after);
});

test('up and down keep the place in the line, and end at the first and the last', () => {
  expect(shown(toLine(at('one\ntwo|'), -1)!)).toBe('one|\ntwo');
  expect(shown(toLine(at('o\ntwo|'), -1)!)).toBe('o|\ntwo');
  expect(shown(toLine(at('on|e\nt'), 1)!)).toBe('one\nt|');
  expect(toLine(at('one|\ntwo'), -1)).toBeUndefined();
  expect(toLine(at('one\n|two'), 1)).toBeUndefined();
});

test('up and down also walk through earlier messages, and what was typed is there again afterwards', () => {
  const earlier = ['first', 'second'];
  let state = { draft: draftOf('now'), at: 2, edited: new Map<number, string>() as ReadonlyMap<number, string> };
  const seen = ['up', 'up', 'up', 'down', 'down', 'down'].map((key) => {
    state = typed(state, { key }, earlier);
    return state.draft.text;
  });
  expect(seen).toEqual(['second', 'first', 'first', 'second', 'now', 'now']);
});

test('text is inserted at the cursor', () => {
  expect(shown(insert(at('a|c'), 'b\n'))).toBe('ab\n|c');
});

test('rows break before the last column, wide characters whole, and the cursor is where its text is', () => {
  const room = { columns: 8, first: '> ', more: '. ' };
  expect(layoutOf(draftOf('abcdefg\n做完了'), room)).toEqual({
    rows: ['> abcde', '. fg', '. 做完', '. 了'],
    cursorRow: 3,
    cursorColumn: 4,
  });
  expect(layoutOf(at('abcde|fg'), room)).toMatchObject({ cursorRow: 1, cursorColumn: 2 });
  expect(layoutOf(at('ab|\ncd'), room)).toMatchObject({ cursorRow: 0, cursorColumn: 4 });
  expect(layoutOf(draftOf('ab\n'), room)).toMatchObject({ rows: ['> ab', '. '], cursorRow: 1, cursorColumn: 2 });
});

test('of a draft that is higher than the screen, the rows around the cursor are drawn', () => {
  const layout = { rows: ['0', '1', '2', '3', '4', '5'], cursorRow: 5, cursorColumn: 1 };
  expect(windowOf(layout, 3)).toEqual({ rows: ['3', '4', '5'], cursorRow: 2, cursorColumn: 1 });
  expect(windowOf({ ...layout, cursorRow: 2 }, 3)).toEqual({ rows: ['1', '2', '3'], cursorRow: 1, cursorColumn: 1 });
  expect(windowOf(layout, 6)).toEqual(layout);
});
