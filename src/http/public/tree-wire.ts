// The files of a version as a tree (F10, F13). Its text is kept without what addresses begin with, which is put in as it is sent.
import type { Portions } from '../../domain/portions.ts';
import type { Pause } from '../../domain/loop/slices.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import { mediaTypeOf } from '../../files/media-type.ts';
import { nodeId } from '../../operations/sessions/file-nodes.ts';
import type { PublicVersion } from '../../operations/publishing/public-pages.ts';
import { addressesOf, nameOf, type PublishedNodeWire } from '../../wire/publishing/file.ts';
import { treePieces } from '../files/tree-pieces.ts';

/** Stands for what an address begins with. No name has such a character. */
const BASE = '\u0000';
/** As a text of JSON begins with it: a name with a backslash there would have two. */
const BASE_IN_JSON = JSON.stringify(BASE).slice(0, -1);

type Version = Pick<PublicVersion, 'shareCode' | 'entryPath'>;

/** The text of the tree, in the order of its paths. The id of a node stays the same as long as its share exists. */
export async function* renderTree(files: Portions<FileVersion>, version: Version, pause: Pause): AsyncIterable<string> {
  const maker = {
    file: (file: FileVersion) => fileNode(file, version),
    folder: (path: string, name: string) => folderNode(path, name, version),
  };
  // It is made once for all readers, so no reply has to have room for it.
  const room = { hold: async () => undefined, pause };
  for await (const piece of treePieces<FileVersion, PublishedNodeWire>(files, maker, room)) {
    yield piece;
    await pause();
  }
}

/** The same text with what addresses begin with. */
export async function* withBase(pieces: AsyncIterable<string>, base: string): AsyncIterable<string> {
  const beginning = JSON.stringify(base).slice(0, -1);
  let rest = '';
  for await (const piece of pieces) {
    const text = (rest + piece).replaceAll(BASE_IN_JSON, beginning);
    // The mark may have been cut in two.
    const end = Math.max(0, text.length - BASE_IN_JSON.length + 1);
    yield text.slice(0, end);
    rest = text.slice(end);
  }
  yield rest;
}

/** What nodes of other trees say of storage (§2.8). */
const STORAGE = { oss_status: null, oss_meta: null } as const;

function folderNode(path: string, name: string, { shareCode }: Version) {
  const none = { size: null, mimeType: null, url: null, downloadUrl: null, ...STORAGE };
  return { id: nodeId(shareCode, path), name, type: 'folder', path, ...none, children: [] } as const;
}

function fileNode({ path, size }: FileVersion, version: Version): PublishedNodeWire {
  const name = nameOf(path);
  const addresses = addressesOf(version, path, BASE);
  const id = nodeId(version.shareCode, path);
  return { id, name, type: 'file', path, size, mimeType: mediaTypeOf(name), ...addresses, children: null, ...STORAGE };
}
