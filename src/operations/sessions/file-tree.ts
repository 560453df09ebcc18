// A workspace's files as a tree of nodes, each with signed addresses (§2.8, E7).
import { createHash } from 'node:crypto';
import type { FileChange, FileVersion } from '../../domain/sessions/artifact.ts';
import type { FileAddresses } from '../../files/file-address.ts';
import { mediaTypeOf } from '../../files/media-type.ts';

/** A file, or a folder with its content. Its id stays the same as long as the session has that path. */
export type FileNode =
  | {
      readonly kind: 'file';
      readonly id: string;
      readonly name: string;
      readonly path: string;
      readonly size: number;
      readonly sha256: string;
      /** How the run changed it; null in a listing of the workspace. */
      readonly change: FileChange | null;
      /** A media type without parameters; null when the name implies none. */
      readonly mimeType: string | null;
      /** Paths of signed addresses. */
      readonly previewAddress: string;
      readonly downloadAddress: string;
    }
  | {
      readonly kind: 'folder';
      readonly id: string;
      readonly name: string;
      readonly path: string;
      readonly children: readonly FileNode[];
    };

export type FileLeaf = Extract<FileNode, { kind: 'file' }>;

export interface TreeParts {
  readonly sessionId: string;
  readonly addresses: Pick<FileAddresses, 'sign'>;
}

/** Each file takes two signatures, and there may be very many: the loop yields to other requests. */
const SLICE = 500;

/** The nodes of files, in order, without folders. */
export async function leavesOf(
  { sessionId, addresses }: TreeParts,
  files: readonly (FileVersion & { readonly change?: FileChange })[],
): Promise<FileLeaf[]> {
  const leaves: FileLeaf[] = [];
  for (const { path, size, sha256, change = null } of files) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const signed = { key: sha256, sessionId, name };
    leaves.push({
      kind: 'file',
      id: idOf(sessionId, path),
      name,
      path,
      size,
      sha256,
      change,
      mimeType: mediaTypeOf(name),
      previewAddress: addresses.sign({ ...signed, disposition: 'inline' }),
      downloadAddress: addresses.sign({ ...signed, disposition: 'attachment' }),
    });
    if (leaves.length % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
  return leaves;
}

interface Folder {
  readonly path: string;
  readonly folders: Map<string, Folder>;
  readonly files: FileLeaf[];
}

/** The same nodes in their folders: folders first, then files, both by name. */
export function treeOf(sessionId: string, leaves: readonly FileLeaf[]): FileNode[] {
  const root: Folder = { path: '', folders: new Map(), files: [] };
  for (const leaf of leaves) {
    let folder = root;
    for (const name of leaf.path.split('/').slice(1, -1)) {
      const inner = folder.folders.get(name) ?? { path: `${folder.path}/${name}`, folders: new Map(), files: [] };
      folder.folders.set(name, inner);
      folder = inner;
    }
    folder.files.push(leaf);
  }
  return nodesOf(sessionId, root);
}

function nodesOf(sessionId: string, { folders, files }: Folder): FileNode[] {
  const byName = (a: string, b: string) => (a < b ? -1 : 1);
  const inner = [...folders]
    .sort(([a], [b]) => byName(a, b))
    .map(([name, folder]): FileNode => {
      const { path } = folder;
      return { kind: 'folder', id: idOf(sessionId, path), name, path, children: nodesOf(sessionId, folder) };
    });
  return [...inner, ...files.toSorted((a, b) => byName(a.name, b.name))];
}

function idOf(sessionId: string, path: string): string {
  return createHash('sha256').update(`${sessionId}\n${path}`).digest('hex').slice(0, 32);
}
