// Footnotes, and the ways between them and the text.
import { expect, test } from 'vitest';
import { markdownOf } from '../../support/rendering/rendered.ts';

test('a footnote leads to its text, and back to each place that refers to it', async () => {
  const html = await markdownOf('One[^a], again[^a], and ^[in *line*].\n\n[^a]: The **first**.');
  const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!);
  expect(targets).toHaveLength(6);
  for (const id of targets) expect(html.split(` id="${id}"`)).toHaveLength(2);
  expect(html).toContain('<li id="doc-note:1"><p>The <strong>first</strong>. <a class="note" ');
  expect(html).toContain('<li id="doc-note:2"><p>in <em>line</em> <a class="note" ');
});

test('what is no footnote stays as it is written', async () => {
  const html = await markdownOf('[^none] and x^2^ [^<script>]: y');
  expect(html).toContain('[^none] and x^2^ [^');
  expect(html).not.toContain('class="note"');
});

test('a footnote can do no more than the text', async () => {
  const html = await markdownOf('a[^1]\n\n[^1]: <img src=x onerror=alert(1)>[j](javascript:alert(1))');
  expect(html).not.toMatch(/onerror|href="javascript/);
});
