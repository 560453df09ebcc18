// A workspace's files as nodes, each with signed addresses (§2.8, E7).
import { createHash } from 'node:crypto';
import type { FileChange, FileVersion } from '../../domain/sessions/artifact.ts';
import type { FileAddresses } from '../../files/file-address.ts';
import { mediaTypeOf } from '../../files/media-type.ts';

/** A file. */
export interface FileLeaf {
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

export interface LeafParts {
  readonly sessionId: string;
  readonly addresses: Pick<FileAddresses, 'sign'>;
}

/** A file, with its change where a run made one. */
type ListedFile = FileVersion & { readonly change?: FileChange | null };

/** Makes the node of a file. */
export function makeLeafOf({ sessionId, addresses }: LeafParts) {
  return ({ path, size, sha256, change = null }: ListedFile): FileLeaf => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const signed = { key: sha256, sessionId, name };
    return {
      id: nodeId(sessionId, path),
      name,
      path,
      size,
      sha256,
      change,
      mimeType: mediaTypeOf(name),
      previewAddress: addresses.sign({ ...signed, disposition: 'inline' }),
      downloadAddress: addresses.sign({ ...signed, disposition: 'attachment' }),
    };
  };
}

/** The id of a node in the tree of a session's or a share's files: it stays the same as long as that has the path. */
export function nodeId(owner: string, path: string): string {
  return createHash('sha256').update(`${owner}\n${path}`).digest('hex').slice(0, 32);
}
