// Files as a tree of nodes, written in one pass: it takes no more memory however many there are.
import { type Portions } from '../../domain/portions.ts';
import { heldRows, type Room, Streamed } from '../replies/json-pieces.ts';

interface Node {
  readonly children: readonly Node[] | null;
}

/** How the nodes of a tree are made. */
export interface NodeMaker<Row, N extends Node> {
  file(row: Row): N;
  /** `path` begins with a slash and ends without one. */
  folder(path: string, name: string): N & { readonly children: readonly [] };
}

/** The tree of files that come in the order of their paths, in which a folder's files follow each other. Nodes keep that order. */
export function streamedTree<Row extends { readonly path: string }, N extends Node>(
  files: Portions<Row>,
  maker: NodeMaker<Row, N>,
): Streamed<readonly N[]> {
  return new Streamed((room) => treePieces(files, maker, room));
}

/** The JSON of that tree, in pieces. */
export async function* treePieces<Row extends { readonly path: string }, N extends Node>(
  files: Portions<Row>,
  maker: NodeMaker<Row, N>,
  room: Room,
): AsyncIterable<string> {
  const open: string[] = [];
  let before = '[';
  for await (const row of heldRows(files, room)) {
    const folders = row.path.split('/').slice(1, -1);
    const shared = sharedLength(open, folders);
    if (open.length > shared) before = `${']}'.repeat(open.length - shared)},`;
    open.length = shared;
    for (const name of folders.slice(shared)) {
      open.push(name);
      yield before + openFolder(maker.folder(`/${open.join('/')}`, name));
      before = '';
    }
    yield before + JSON.stringify(maker.file(row));
    before = ',';
  }
  yield before === '[' ? '[]' : `${']}'.repeat(open.length)}]`;
}

/** How many folders two paths begin with in common. */
function sharedLength(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** A folder's JSON up to its first child. */
function openFolder(folder: Node): string {
  return `${JSON.stringify({ ...folder, children: undefined }).slice(0, -1)},"children":[`;
}
