import { expect, test } from 'vitest';
import { type Inline, inlineOf } from '../../../src/browser/page/inline.ts';

/** As HTML would say it. */
function said(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => {
      if (typeof node === 'string') return node;
      return `<${node.tag}${node.href === undefined ? '' : ` ${node.href}`}>${said(node.children)}</${node.tag}>`;
    })
    .join('');
}

test.each([
  ['plain text', 'plain text'],
  ['**bold** and *italic* and ~~gone~~', '<strong>bold</strong> and <em>italic</em> and <del>gone</del>'],
  ['`a * b` stays', '<code>a * b</code> stays'],
  ['``a ` b``', '<code>a ` b</code>'],
  ['**bold `code` *both***', '<strong>bold <code>code</code> <em>both</em></strong>'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['an * alone, ** two, ` one', 'an * alone, ** two, ` one'],
  ['\\*not italic\\*', '*not italic*'],
  ['[a page](https://a.example/x_(1))', '<a https://a.example/x_(1)>a page</a>'],
  ['see https://a.example/b, then', 'see <a https://a.example/b>https://a.example/b</a>, then'],
  ['https://a.example/c?d=(e)...', '<a https://a.example/c?d=(e>https://a.example/c?d=(e</a>)...'],
  ['two\nlines', 'two<br></br>lines'],
])('%s', (text, html) => {
  expect(said(inlineOf(text))).toBe(html);
});

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'JaVaScRiPt:alert(1)',
  '/office',
  '//evil.example',
  'vbscript:x',
])('an address that is not of the web or of mail leads nowhere: %s', (address) => {
  expect(said(inlineOf(`[look](${address})`))).not.toContain('<a');
});

test('HTML is text', () => {
  expect(inlineOf('<img src=x onerror=alert(1)>')).toEqual(['<img src=x onerror=alert(1)>']);
});

test.each(['*', '_', '`', '[', '~', '**a', '[a](', '\\', '`a', 'https://', '_a'])(
  'a hundred thousand of %s are taken in a moment',
  (text) => {
    // It would take minutes if it were slow: the test would not end.
    for (const length of [19_999, 100_000]) {
      expect(said(inlineOf(text.repeat(Math.ceil(length / text.length)).slice(0, length))).length).toBeGreaterThan(0);
    }
  },
);
