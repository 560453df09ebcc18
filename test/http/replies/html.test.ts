// HTML by template.
import { expect, test } from 'vitest';
import { html, Html } from '../../../src/http/replies/html.ts';

test('everything that is put in is escaped', () => {
  const hostile = `<script>alert("1" & '2')</script>\u0000`;
  const safe = '&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;\uFFFD';
  expect(html`<p title="${hostile}">${hostile}</p>`.toString()).toBe(`<p title="${safe}">${safe}</p>`);
  expect(html`${[hostile, [hostile]]}`.toString()).toBe(safe + safe);
});

test('characters that would show a name in another order than it has are replaced', () => {
  expect(html`<p>${'invoice\u202Efdp.exe'}</p>`.toString()).toBe('<p>invoice\uFFFDfdp.exe</p>');
  expect(html`${'\u2066a\u2069 \u05D0\u200F'}`.toString()).toBe('\uFFFDa\uFFFD \u05D0\u200F');
});

test('HTML is put in as it is, lists are joined, and what is absent leaves nothing', () => {
  const item = (n: number) => html`<li>${n}</li>`;
  expect(html`<ul>${[1, 2].map(item)}</ul>${null}${undefined}${false}${0}${''}`.toString()).toBe(
    '<ul><li>1</li><li>2</li></ul>0',
  );
});

test('bytes are kept as they are, without a copy', () => {
  const bytes = Buffer.from('<b>é</b>');
  const page = html`<main>${html`<article>${Html.safe(bytes)}</article>`}</main>`;
  expect(page.parts).toHaveLength(3);
  expect(page.parts[1]).toBe(bytes);
  expect(page.toString()).toBe('<main><article><b>é</b></article></main>');
});
