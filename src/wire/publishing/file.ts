// Published files, as everybody reads them (§2.13, F10).
import { assetPathOf } from '../../domain/publishing/public-address.ts';
import { array, object } from '../shapes/composites.ts';
import { constant, integer, oneOf, string } from '../shapes/scalars.ts';
import { named, nullable, type Shape, type Static } from '../shapes/shape.ts';

/** The entry of a version. Both addresses end with its share. */
export const publishedFile = named(
  'PublishedFile',
  object({ name: string, path: string, mimeType: nullable(string), url: string, downloadUrl: string }),
);
export type PublishedFileWire = Static<typeof publishedFile>;

/** A version, as its addresses name it. */
interface Shared {
  readonly shareCode: string;
  readonly entryPath: string;
}

/**
 * What the daemon adds to a value whose record has addresses. `base`: what they begin with. `mediaTypeOf`: of a file by its name; its
 * list of types is long, so clients, which have the same records, don't load it.
 */
export interface Addressing {
  readonly base: string;
  readonly mediaTypeOf: (name: string) => string | null;
}

interface Entry extends Shared {
  readonly entry: { readonly path: string };
}

/** The entry of a version. */
export function renderEntry(version: Entry, { base, mediaTypeOf }: Addressing): PublishedFileWire {
  const { path } = version.entry;
  const name = nameOf(path);
  return { name, path, mimeType: mediaTypeOf(name), ...addressesOf(version, path, base) };
}

/** Where a file of a version is shown, and where it is downloaded. */
export function addressesOf(version: Shared, path: string, base: string) {
  const url = `${base}${assetPathOf(version, path)}`;
  return { url, downloadUrl: `${url}?download=1` };
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

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
