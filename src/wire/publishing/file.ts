// Published files, as everybody reads them (§2.13, F10).
import { array, object } from '../composites.ts';
import { constant, integer, oneOf, string } from '../scalars.ts';
import { named, nullable, type Shape, type Static } from '../shape.ts';

/** The entry of a version. Both addresses end with its share. */
export const publishedFile = named(
  'PublishedFile',
  object({ name: string, path: string, mimeType: nullable(string), url: string, downloadUrl: string }),
);
export type PublishedFileWire = Static<typeof publishedFile>;

/** A file of a version, or a folder, whose `children` are not null and whose other fields are. `size` is in bytes. */
export interface PublishedNodeWire {
  readonly id: string;
  readonly name: string;
  readonly type: 'file' | 'folder';
  readonly path: string;
  readonly size: number | null;
  readonly mimeType: string | null;
  readonly url: string | null;
  readonly downloadUrl: string | null;
  readonly children: readonly PublishedNodeWire[] | null;
  /** Both are of artifacts, and null here (§2.8). */
  readonly oss_status: null;
  readonly oss_meta: null;
}

export const publishedNode: Shape<PublishedNodeWire> = named('PublishedNode', () =>
  object({
    id: string,
    name: string,
    type: oneOf(['file', 'folder']),
    path: string,
    size: nullable(integer({ from: 0 })),
    mimeType: nullable(string),
    url: nullable(string),
    downloadUrl: nullable(string),
    children: nullable(array(publishedNode)),
    oss_status: constant(null),
    oss_meta: constant(null),
  }),
);

/** The top of a version's tree. */
export const publishedTree = array(publishedNode);
