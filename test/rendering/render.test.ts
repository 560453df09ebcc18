// What becomes of documents: Markdown and source code as HTML in which nothing can act.
import { expect, test } from 'vitest';
import { render } from '../../src/rendering/render.ts';
import { MAX_SOURCE_BYTES } from '../../src/rendering/rendering.ts';
import { LINKS as links } from '../support/rendering/rendered.ts';

async function htmlOf(source: string | Uint8Array, name?: string): Promise<string> {
  const bytes = Buffer.from(source as string);
  const task = name === undefined ? ({ form: 'markdown', name: 'index.md', links } as const) : { form: 'code', name };
  const result = await render({ ...(task as { form: 'code'; name: string }), bytes });
  if (result.kind !== 'html') throw new Error(result.kind);
  return Buffer.from(result.html).toString();
}

test('Markdown becomes HTML below the heading of the page around it', async () => {
  const html = await htmlOf('# Tides\n\nHigh *water* at ~~one~~ **noon**.\n\n###### Note');
  expect(html).toContain('<h2 id="doc-tides"><a class="anchor" href="#doc-tides">Tides</a></h2>');
  expect(html).toContain('<p>High <em>water</em> at <s>one</s> <strong>noon</strong>.</p>');
  expect(html).toContain('<h6 id="doc-note"><a class="anchor" href="#doc-note">Note</a></h6>');
});

test.each([
  ['img/x.png', '/assets/img/x.png'],
  ['./img/../img/x.png?size=2#part', '/assets/img/x.png#part'],
  ['<a b.png>', '/assets/a%20b.png'],
  ['a%20b.png', '/assets/a%20b.png'],
  ['quay/%231.png', '/assets/quay/%231.png'],
  ['/site/other.md', '/assets/other.md'],
  ['/other.md', '/assets/other.md'],
  ['https://example.com/a?b=c', 'https://example.com/a?b=c'],
  ['mailto:a@example.com', 'mailto:a@example.com'],
])('a link to %s leads to %s', async (written, target) => {
  expect(await htmlOf(`[here](${written})`)).toContain(`href="${target}"`);
});

test.each([
  '../other.md',
  'img/../../other.md',
  'missing.md',
  'OTHER.md',
  '//example.com/other.md',
  'javascript:alert(1)',
  'JaVaScRiPt&#58;alert(1)',
  'java&#10;script:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  '%ZZ',
  '%2e%2e/%2e%2e/other.md',
  'other.md%00',
])('a link to %s leads nowhere', async (written) => {
  expect(await htmlOf(`[here](${written})`)).not.toContain('href');
  expect(await htmlOf(`<a href="${written}">here</a>`)).not.toContain('href');
});

test('images are those published with the document, or inline; others leave their description', async () => {
  expect(await htmlOf('![The quay](img/x.png)')).toContain(
    '<img alt="The quay" src="/assets/img/x.png" loading="lazy" />',
  );
  expect(await htmlOf('![dot](data:image/png;base64,AAAA)')).toContain('src="data:image/png;base64,AAAA"');
  for (const elsewhere of ['https://example.com/x.png', '//example.com/x.png', '../x.png', 'data:image/svg+xml,<svg>'])
    expect(await htmlOf(`<img src="${elsewhere}" alt="The quay">`)).toBe('<span class="missing">The quay</span>');
});

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src=img/x.png onload=alert(1) style="position:fixed">',
  '<svg onload=alert(1)><script>alert(1)</script><a xlink:href="javascript:alert(1)">x</a></svg>',
  '<math><mi xlink:href="javascript:alert(1)">x</mi></math>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data=x></object><embed src=x>',
  '<form action=//example.com><input name=q><button formaction=//example.com>x</button></form>',
  '<style>* { display: none }</style><link rel=stylesheet href=//example.com>',
  '<base href=//example.com><meta http-equiv=refresh content="0;url=//example.com">',
  '<a href="javascript:alert(1)" onclick=alert(1)>x</a>',
  '<p class=topbar style="position:fixed" data-x=1>x</p>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<template><script>alert(1)</script></template>',
  '<<script>script>alert(1)<</script>/script>',
  '`<script>`<script>alert(1)//',
])('nothing of %s can act', async (hostile) => {
  const tags = [...(await htmlOf(hostile)).matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag);
  const harmless =
    /^<(?:p|p title="[^"]*"|a|b|code|span class="missing"|img (?:alt="" )?src="\/assets\/img\/x.png"(?: alt="")? loading="lazy" \/)>$/;
  for (const tag of tags) expect(tag).toMatch(harmless);
});

test('ids and classes of a document are never those of the page around it', async () => {
  const html = await htmlOf('<p id="content" class="content">a</p><span class="hljs-keyword page">b</span>');
  expect(html).toBe('<p id="doc-content">a</p><span class="hljs-keyword">b</span>');
});

test('tables and blocks of code, which scroll, are reached by keyboard', async () => {
  const html = await htmlOf('| a | b |\n|---|--:|\n| 1 | 2 |\n\n<table><tr><td>raw\n\n```\n<table>\n```');
  expect(html.match(/<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>/g)).toHaveLength(2);
  expect(html.match(/<\/table><\/div>/g)).toHaveLength(2);
  expect(html).toContain('<td class="right">2</td>');
  expect(await htmlOf('```js\nconst a = "<b>";\n```')).toContain(
    '<pre tabindex="0"><code><span class="hljs-keyword">const</span> a = <span class="hljs-string">"&lt;b&gt;"</span>;',
  );
});

test('task lists show what is done, and metadata for other programs is left out', async () => {
  const html = await htmlOf('---\ntitle: Tides\n---\n- [ ] sweep\n- [x] paint\n');
  expect(html).toBe('<ul>\n<li>☐ sweep</li>\n<li>☑ paint</li>\n</ul>\n');
});

test('source code is highlighted by its name, and escaped either way', async () => {
  expect(await htmlOf('print("<b>")', 'tide.py')).toBe(
    '<pre tabindex="0"><code><span class="hljs-built_in">print</span>(<span class="hljs-string">&quot;&lt;b&gt;&quot;</span>)</code></pre>',
  );
  expect(await htmlOf('<b>&"', 'notes.unknown')).toBe('<pre tabindex="0"><code>&lt;b&gt;&amp;&quot;</code></pre>');
  expect(await htmlOf('<b>', 'a.constructor')).toBe('<pre tabindex="0"><code>&lt;b&gt;</code></pre>');
  expect(await htmlOf('all:\n\techo $@', 'Makefile')).toContain('<span class="hljs-section">all:</span>');
  expect(await htmlOf('const a = 1;\n'.repeat(30_000), 'long.js')).not.toContain('hljs');
});

test('code shows characters that would reorder it, in files and in documents', async () => {
  const code = "if a != 'user\u202E \u2066# check\u2069': pass";
  const shown = ['202E', '2066', '2069'].map((number) => `<span class="missing">U+${number}</span>`);
  const made = await Promise.all([htmlOf(code, 'a.py'), htmlOf(`\`\`\`py\n${code}\n\`\`\``), htmlOf(`    ${code}`)]);
  for (const html of made) {
    for (const each of shown) expect(html).toContain(each);
    expect(html).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  }
});

test('text in UTF-16 and Latin-1 is read, and bytes that aren’t text are refused', async () => {
  expect(await htmlOf(Buffer.from('\uFEFFhé', 'utf16le'), 'a.txt')).toContain('hé');
  expect(await htmlOf(Buffer.from('hé', 'latin1'), 'a.txt')).toContain('hé');
  const binary = { form: 'code', name: 'a.txt', bytes: Buffer.from([0x50, 0x4b, 0, 1]) } as const;
  expect(await render(binary)).toEqual({ kind: 'binary' });
});

test('a result that is much longer than its source is refused', async () => {
  const bytes = Buffer.from('&'.repeat(MAX_SOURCE_BYTES));
  expect(await render({ form: 'code', name: 'a.txt', bytes })).toEqual({ kind: 'refused' });
});
