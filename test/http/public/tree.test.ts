// The tree of a version over HTTP: addresses begin with what the reader's do, and whoever has it is told so.
import { expect, test } from 'vitest';
import { withBase } from '../../../src/http/public/tree-wire.ts';
import { publishedFixture } from '../../support/http/published-fixture.ts';

interface Node {
  readonly name: string;
  readonly url: string | null;
  readonly children: readonly Node[] | null;
}

const leaves = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node) => (node.children ? leaves(node.children) : [node]));

test.each([
  [
    'https://pages.example.com/base',
    ['"\\u0000/share/a","\\u0000/share/b"'],
    '"https://pages.example.com/base/share/a","https://pages.example.com/base/share/b"',
  ],
  ['https://p', Array.from('["\\u0000/x","\\u0000/y"]'), '["https://p/x","https://p/y"]'],
  ['https://p', ['{"name":"\\\\u0000","url":"\\u0000/x"}'], '{"name":"\\\\u0000","url":"https://p/x"}'],
  ['', ['"\\u00', '00/x"'], '"/x"'],
  ['https://p', [], ''],
])('%s is put in, wherever the text is cut', async (base, pieces, expected) => {
  async function* text() {
    yield* pieces;
  }
  expect((await Array.fromAsync(withBase(text(), base))).join('')).toBe(expected);
});

test('names that look like the mark, and all others, stay as they are', async () => {
  const names = ['\\u0000.txt', '"\\u0000.txt', '\u0001', 'é 🌊'];
  const files = Object.fromEntries(names.map((name) => [`/site/${name}`, name]));
  const { site, data } = await publishedFixture();
  const { key } = await site({ '/site/index.html': '<p>', ...files });
  const { data: tree } = await data(`/api/v1/public/publishes/${key}/versions/1/files`);
  expect(
    leaves(tree)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([...names, 'index.html'].toSorted());
});

test('a client that has it is told so, under each address of the daemon', async () => {
  const { site, send } = await publishedFixture();
  const { key } = await site({ '/site/index.html': '<p>', '/site/a.css': 'css' });
  const path = `/api/v1/public/publishes/${key}/versions/1/files`;
  const first = await send(path);
  const tag = first.headers['etag']!;
  expect([first.status, first.headers['cache-control']]).toEqual([200, 'no-cache']);
  const known = await send(path, { headers: { 'If-None-Match': tag } });
  expect([known.status, known.text]).toEqual([304, '']);
  expect((await send(path, { headers: { 'If-None-Match': '"another"' } })).json).toEqual(first.json);
});
