// Headings: ids that are theirs alone, links to themselves, and the contents of a document.
import { expect, test } from 'vitest';
import { documentOf, markdownOf } from '../../support/rendering/rendered.ts';

test('a table of contents that is written leads to headings, also to those of the same text', async () => {
  const html = await markdownOf('[one](#the-quay) [two](#the-quay-1)\n\n## The quay!\n\n## The quay!');
  const targets = [...html.matchAll(/<a href="#([^"]+)"/g)].map(([, id]) => id);
  expect(targets).toEqual(['doc-the-quay', 'doc-the-quay-1']);
  for (const id of targets) expect(html).toContain(`<h3 id="${id}"><a class="anchor" href="#${id}">The quay!</a></h3>`);
});

test('each id is there once, whatever the headings are called', async () => {
  const html = await markdownOf('## a\n\n## a\n\n## a-1\n\n## a\n\n## !\n\n## ?\n\nx[^1]\n\n## note:1\n\n[^1]: y');
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toContain('doc-a-1-1');
});

test('a heading that has a link, an image or HTML is no link itself', async () => {
  for (const source of ['## [a](other.md) b', '## ![a](img/x.png)', '## <b>a</b>', '## https://example.com/a'])
    expect(await markdownOf(source)).not.toContain('class="anchor"');
  expect(await markdownOf('## `a` **b** _c_')).toContain(
    '<a class="anchor" href="#doc-a-b-c"><code>a</code> <strong>b</strong> <em>c</em></a>',
  );
});

test('from four headings on, a document has contents, without its title', async () => {
  expect((await documentOf('# Title\n\n## One\n\n## Two')).contents.headings).toEqual([]);
  const { contents } = await documentOf('# Title\n\n## One\n\n### `a` & <b>b</b>\n\n## Two\n\n> ## Quoted');
  expect(contents).toEqual({
    headings: [
      { level: 1, id: 'doc-one', text: 'One' },
      { level: 2, id: 'doc-a--b', text: 'a & b' },
      { level: 1, id: 'doc-two', text: 'Two' },
    ],
    more: 0,
  });
});

test('of several headings of the highest level, none is the title', async () => {
  const { contents } = await documentOf('# One\n\n# Two\n\n# Three\n\n#### Deep\n\n# Four');
  expect(contents.headings.map(({ level, text }) => [level, text])).toEqual([
    [1, 'One'],
    [1, 'Two'],
    [1, 'Three'],
    [1, 'Four'],
  ]);
});

test('five thousand headings have the contents of the first two hundred, and long ones their beginning', async () => {
  const source = Array.from({ length: 5_000 }, (_, n) => `## ${n} ${'x'.repeat(200)}`).join('\n\n');
  const { html, contents } = await documentOf(source);
  expect(html.match(/<h3 /g)).toHaveLength(5_000);
  expect(contents.headings).toHaveLength(200);
  expect(contents.more).toBe(4_800);
  for (const { text, id } of contents.headings) {
    expect(text).toMatch(/^\d+ x+…$/);
    expect(text).toHaveLength(120);
    expect(id.length).toBeLessThan(120);
  }
});
