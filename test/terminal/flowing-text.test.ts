// Text as it arrives on a terminal.
import { expect, test } from 'vitest';
import { makeFlowingText } from '../../src/terminal/flowing-text.ts';
import { widthOf } from '../../src/terminal/text.ts';

function flowing(pieces: Iterable<string>, { columns = 20, colours = false } = {}): string {
  let written = '';
  const text = makeFlowingText({ write: (more) => void (written += more), columns: () => columns, colours });
  for (const piece of pieces) text.add(piece);
  text.end();
  return written;
}

const BOLD = (text: string) => `\u001b[1m${text}\u001b[22m`;
const CODE = (text: string) => `\u001b[36m${text}\u001b[39m`;
const DIM = (text: string) => `\u001b[2m${text}\u001b[22m`;

test.each([
  ['words', 'The moon pulls at the sea, and the sea follows.', 'The moon pulls at\nthe sea, and the\nsea follows.\n'],
  [
    'a list, below its own text',
    '- one two three four five\n  - six seven eight nine',
    '- one two three\n  four five\n  - six seven eight\n    nine\n',
  ],
  ['numbers', '1. one two three four', '1. one two three\n   four\n'],
  ['lines of the text', 'a\n\nb\n', 'a\n\nb\n'],
  ['a path, which stays whole', 'see /a/very/long/path/to/the/file now', 'see\n/a/very/long/path/to/the/file\nnow\n'],
  [
    'code between fences, which stays as it is',
    '```sh\nls   -l   --color=auto  /srv\n```\nend',
    '```sh\nls   -l   --color=auto  /srv\n```\nend\n',
  ],
  ['marks without colours', '# A **b** `c`', '# A **b** `c`\n'],
  ['scripts without blanks', '月が海を引き、海がそれに従う', '月が海を引き、海が\nそれに従う\n'],
])('wraps %s', (_, text, shown) => {
  expect(flowing([text])).toBe(shown);
  expect(flowing(text)).toBe(shown);
});

test.each([
  ['a heading', '## The **moon** pulls', BOLD('The') + ' ' + BOLD('moon') + ' ' + BOLD('pulls')],
  ['bold', 'a **b c**, d', `a ${BOLD('b')} ${BOLD('c')}, d`],
  ['code', 'run `ls -l` (`x**y`).', `run ${CODE('ls')} ${CODE('-l')} (${CODE('x**y')}).`],
  ['a list', '- one\n* two', '• one\n• two'],
  ['a fence', '```\n**x**\n```\ny', `${DIM('```')}\n${CODE('**x**')}\n${DIM('```')}\ny`],
  ['what is none', '2**3 ** 4, it`s', '2**3 ** 4, it`s'],
  ['what ends with its line', '**a\nb', `${BOLD('a')}\nb`],
  ['words of wide characters', '**月が**海', `${BOLD('月')}${BOLD('が')}海`],
])('dresses %s', (_, text, shown) => {
  expect(flowing([text], { columns: 80, colours: true })).toBe(`${shown}\n`);
  expect(flowing(text, { columns: 80, colours: true })).toBe(`${shown}\n`);
});

test('no line is wider than the terminal, and no text of others steers it', () => {
  const hostile = `\u001b[2J\u202e${'word '.repeat(200)}\u0007\r${'月'.repeat(100)}`;
  const written = flowing(hostile, { columns: 31 });
  expect(Math.max(...written.split('\n').map(widthOf))).toBeLessThan(31);
  expect(written).toMatch(/^[\P{Cc}\n]*$/u);
  expect(written).not.toContain('\u202e');
});

test('a word without an end is written, not held', () => {
  let written = '';
  const text = makeFlowingText({ write: (more) => void (written += more), columns: () => 80, colours: true });
  for (let at = 0; at < 100; at += 1) text.add('x'.repeat(1_000));
  expect(written.length).toBeGreaterThan(99_000);
});
