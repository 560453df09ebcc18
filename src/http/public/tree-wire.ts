// The files of a version as a tree (F10, F13).
import { createHash } from 'node:crypto';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { PublicVersion } from '../../operations/publishing/public-pages.ts';
import { mediaTypeOf } from '../../files/media-type.ts';
import type { PublishedNodeWire } from '../../wire/publishing/file.ts';
import { addressesOf, nameOf } from './pages-wire.ts';

interface Folder {
  readonly path: string;
  readonly folders: Map<string, Folder>;
  readonly files: FileVersion[];
}

interface TreeParts {
  readonly version: Pick<PublicVersion, 'shareCode' | 'entryPath'>;
  /** What public addresses begin with. */
  readonly base: string;
}

/** The tree: folders first, then files, both by name. The id of a node stays the same as long as its share exists. */
export function renderTree(files: readonly FileVersion[], parts: TreeParts): PublishedNodeWire[] {
  const root: Folder = { path: '', folders: new Map(), files: [] };
  for (const file of files) {
    let folder = root;
    for (const name of file.path.split('/').slice(1, -1)) {
      const inner = folder.folders.get(name) ?? { path: `${folder.path}/${name}`, folders: new Map(), files: [] };
      folder.folders.set(name, inner);
      folder = inner;
    }
    folder.files.push(file);
  }
  return nodesOf(root, parts);
}

function nodesOf({ folders, files }: Folder, parts: TreeParts): PublishedNodeWire[] {
  const byName = (a: string, b: string) => (a < b ? -1 : 1);
  return [
    ...[...folders].sort(([a], [b]) => byName(a, b)).map(([name, folder]) => folderNode(name, folder, parts)),
    ...files.toSorted((a, b) => byName(a.path, b.path)).map((file) => fileNode(file, parts)),
  ];
}

/** What nodes of other trees say of storage (§2.8). */
const STORAGE = { oss_status: null, oss_meta: null } as const;

function folderNode(name: string, folder: Folder, parts: TreeParts): PublishedNodeWire {
  const { path } = folder;
  const id = idOf(path, parts);
  const none = { size: null, mimeType: null, url: null, downloadUrl: null };
  return { id, name, type: 'folder', path, ...none, children: nodesOf(folder, parts), ...STORAGE };
}

function fileNode({ path, size }: FileVersion, parts: TreeParts): PublishedNodeWire {
  const name = nameOf(path);
  const addresses = addressesOf(parts.version, path, parts.base);
  const mimeType = mediaTypeOf(name);
  return { id: idOf(path, parts), name, type: 'file', path, size, mimeType, ...addresses, children: null, ...STORAGE };
}

function idOf(path: string, { version }: TreeParts): string {
  return createHash('sha256').update(`${version.shareCode}\n${path}`).digest('hex').slice(0, 32);
}
