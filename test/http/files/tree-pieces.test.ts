// Files as a tree, written in one pass.
import { expect, test } from 'vitest';
import type { Portions } from '../../../src/domain/portions.ts';
import { streamedTree } from '../../../src/http/files/tree-pieces.ts';
import { piecesOf } from '../../../src/http/replies/json-pieces.ts';

interface Node {
  readonly name: string;
  readonly path: string;
  readonly children: readonly Node[] | null;
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const file = (path: string): Node => ({ name: nameOf(path), path, children: null });
const folder = (path: string, ...children: Node[]): Node => ({ name: nameOf(path), path, children });

/** Two rows at a time. */
async function* portions(paths: readonly string[]): Portions<{ readonly path: string }> {
  for (let at = 0; at < paths.length; at += 2)
    yield { bytes: 2, read: async () => paths.slice(at, at + 2).map((path) => ({ path })) };
}

const ignore = async () => undefined;

async function treeOf(paths: readonly string[]): Promise<unknown> {
  const tree = streamedTree<{ readonly path: string }, Node>(portions(paths), {
    file: ({ path }) => file(path),
    folder: (path, name) => ({ path, name, children: [] }),
  });
  return JSON.parse((await Array.fromAsync(piecesOf(tree, { hold: ignore, pause: ignore }))).join(''));
}

test.each<[string, string[], Node[]]>([
  ['nothing', [], []],
  ['files alone', ['/a', '/b'], [file('/a'), file('/b')]],
  [
    'folders, some in others, beside files',
    ['/a-b/x', '/a.txt', '/a/b/c/1', '/a/b/c/2', '/a/d/3', '/z'],
    [
      folder('/a-b', file('/a-b/x')),
      file('/a.txt'),
      folder(
        '/a',
        folder('/a/b', folder('/a/b/c', file('/a/b/c/1'), file('/a/b/c/2'))),
        folder('/a/d', file('/a/d/3')),
      ),
      file('/z'),
    ],
  ],
  [
    'names that begin alike',
    ['/ab/c/d', '/ab/cd', '/abc/d'],
    [folder('/ab', folder('/ab/c', file('/ab/c/d')), file('/ab/cd')), folder('/abc', file('/abc/d'))],
  ],
  ['a name with quotes', ['/"a\\/b"'], [folder('/"a\\', file('/"a\\/b"'))]],
])('%s', async (_, paths, expected) => {
  expect(await treeOf(paths)).toEqual(expected);
});

test('a path of two thousand folders takes no stack', async () => {
  const path = '/d'.repeat(2_000);
  let node = ((await treeOf([path])) as Node[])[0]!;
  while (node.children !== null) node = node.children[0]!;
  expect(node.path).toBe(path);
});
