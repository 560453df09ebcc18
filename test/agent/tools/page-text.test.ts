// Pages as text: what a reader would see, with whole addresses, whatever the page is made of.
import { expect, test } from 'vitest';
import { readPage } from '../../../src/agent/tools/page-text.ts';
import { quietCpuMsOf } from '../../support/time/machine-speed.ts';

const URL = 'https://wiki.example/a/b?c=d';
const textOf = (html: string) => readPage(html, URL).text;

test('headings, paragraphs, lists, rows and links come in their order', () => {
  const page = `<!doctype html><html><head><title>  Cats &amp; dogs </title><style>p{}</style></head><body>
    <h1>Cats</h1><p>They <b>sleep</b>,<br>see <a href="../more?x=1">here</a>.</p>
    <ul><li>one<li>two<ol><li>a<li>b</ol></ul>
    <table><tr><th>Name</th><th>Age</th></tr><tr><td>Mia</td><td><p>3</p></td></tr></table>
    <pre>x\n  y</pre><h3>End</h3></body></html>`;
  expect(readPage(page, URL)).toEqual({
    title: 'Cats & dogs',
    structured: true,
    cut: false,
    text: [
      '# Cats',
      '',
      'They sleep,',
      'see here (https://wiki.example/more?x=1).',
      '',
      '- one',
      '- two',
      '  1. a',
      '  2. b',
      '',
      'Name | Age',
      '',
      'Mia | 3',
      '',
      'x',
      '  y',
      '',
      '### End',
    ].join('\n'),
  });
});

test('what no reader sees is left out', () => {
  const hidden =
    '<script>one()</script><style>two{}</style><!-- three --><svg><text>four</text></svg><noscript>five</noscript>' +
    '<template>six</template><iframe>seven</iframe><SCRIPT type="x">eight</SCRIPT >';
  expect(textOf(`a${hidden}b`)).toBe('a b');
  expect(textOf('a<script>never closed')).toBe('a');
});

test('links that lead to no page are only their words, and pictures are what they say', () => {
  const links =
    '<a href="javascript:x()">a</a> <a href="data:text/html,x">b</a> <a href="#top">c</a> <a href="http://[">d</a>';
  expect(textOf(links)).toBe('a b c d');
  expect(textOf('<a href="https://x.example/">https://x.example/</a>')).toBe('https://x.example/');
  expect(textOf('<img src="cat.png" alt="A cat"><img src="dot.gif" alt="">')).toBe('[image: A cat]');
});

test('a long base does not make many links a text that is longer than a page can be', () => {
  const base = `https://other.example/${'x'.repeat(1_900)}/`;
  const { text, structured } = readPage(`<base href="${base}">${'<a href="y">z</a> '.repeat(500)}`, URL);
  expect([text.length < 401_000, structured, text.startsWith(`z (${base}y) z (`)]).toEqual([true, true, true]);
  expect(text.endsWith(' z z z')).toBe(true);
});

test('a base in the page is where its links start from', () => {
  expect(textOf('<base href="https://other.example/x/"><a href="y">z</a>')).toBe('z (https://other.example/x/y)');
});

/** Pages made to take long, or to run a converter out of its stack. */
const TRAPS: readonly (readonly [string, string])[] = [
  ['deep', `${'<div>'.repeat(79_000)}hello`],
  ['unclosed bold', `hello${'<b>a'.repeat(99_000)}`],
  ['nested tables', `hello${'<table><tr><td>'.repeat(26_000)}`],
  ['nested lists', `hello${'<ul><li>'.repeat(49_000)}`],
  ['line breaks', `hello${'<br>'.repeat(99_000)}`],
  ['open scripts', `hello${'<script '.repeat(40_000)}`],
  ['open comments', `hello${'<!--'.repeat(99_000)}`],
  ['open titles', `hello${'<title'.repeat(60_000)}`],
  ['open bases', `hello${'<base '.repeat(60_000)}`],
  ['less than', `hello ${'<'.repeat(399_000)}`],
  ['spaces in a pre', `<pre>hello${' '.repeat(399_000)}x</pre>`],
  ['rows of paragraphs', `hello<table><tr>${'<p>x</p>'.repeat(45_000)}<td>x</table>`],
  ['links', `hello${'<a href="/abc">x</a>'.repeat(20_000)}`],
  ['attributes', `hello<a ${'b=c '.repeat(99_000)}>x</a>`],
];

test.each(TRAPS)('a page of %s ends in a moment with what it says', (_, html) => {
  let text = '';
  // A quarter of a second for the structure, twice where the clock stopped it too early, and as much again for the text.
  expect(quietCpuMsOf(() => (text = readPage(html, URL).text))).toBeLessThan(3_000);
  expect(text).toContain('hello');
});

test('what nests deeper than the converter goes is not lost', () => {
  const page = readPage(`${'<div>'.repeat(200)}far down${'</div>'.repeat(200)}`, URL);
  expect(page).toMatchObject({ text: 'far down', structured: false });
});

test('a page that is too tangled still says all its text, line by line', () => {
  const tangled = `<h1>Head &amp; tail</h1><p>one <i>two</i></p>${'<ul><li>'.repeat(45_000)}<p>three</p>`;
  const page = readPage(tangled, URL);
  expect(page).toMatchObject({ structured: false, cut: false });
  expect(page.text.split('\n').filter((line) => line !== '')).toEqual(['Head & tail', 'one two', 'three']);
});

test('the beginning of a long page is read, and scripts do not count', () => {
  const long = readPage(`<p>start</p>${'word '.repeat(100_000)}<p>end</p>`, URL);
  expect([long.cut, long.text.startsWith('start'), long.text.includes('end')]).toEqual([true, true, false]);
  const scripts = readPage(`<p>start</p><script>${'x'.repeat(900_000)}</script><p>end</p>`, URL);
  expect([scripts.cut, scripts.text]).toEqual([false, 'start\n\nend']);
});
