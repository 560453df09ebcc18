// Shares, as everybody reads them (F9).
import { SHARE_TYPES } from '../../domain/publishing/page.ts';
import { array, object } from '../shapes/composites.ts';
import { called, made, record } from '../shapes/record.ts';
import { boolean, integer, oneOf, string, time } from '../shapes/scalars.ts';
import { named, nullable, optional } from '../shapes/shape.ts';
import { type Addressing, nameOf, publishedFile, renderEntry } from './file.ts';
import { pageOwner } from './public-page.ts';

/** A version with its page, of which it is rendered. */
interface SharedVersion extends Addressing {
  readonly shareCode: string;
  readonly entryPath: string;
  readonly entry: { readonly path: string; readonly size: number; readonly sha256: string };
}

/** A share and what it shows. */
export const publicShare = named(
  'PublicShare',
  record({
    shareCode: string,
    shareType: oneOf(SHARE_TYPES),
    key: called('publish_key', string),
    name: string,
    description: nullable(string),
    category: nullable(string),
    tags: array(string),
    owner: pageOwner,
    no: called('version_no', integer({ from: 1 })),
    isLatest: boolean,
    entryPath: string,
    publishedAt: time,
    expiresAt: nullable(time),
    isDistractionFree: called('distraction_free_mode_enabled', boolean),
    workspaceFile: made(publishedFile, (shared: SharedVersion) => renderEntry(shared, shared)),
  }),
);

type Entry = Pick<SharedVersion, 'entry' | 'mediaTypeOf'>;

/** What a share contains. `size` and `sha256` are those of its entry, `total_size` is that of all its files; in bytes. */
export const shareMetadata = named(
  'ShareMetadata',
  record({
    shareCode: string,
    shareType: oneOf(SHARE_TYPES),
    name: called('title', string),
    description: nullable(string),
    mimeType: made(nullable(string), ({ entry, mediaTypeOf }: Entry) => mediaTypeOf(nameOf(entry.path))),
    size: made(integer({ from: 0 }), ({ entry }: Entry) => entry.size),
    sha256: made(string, ({ entry }: Entry) => entry.sha256),
    entryPath: string,
    no: called('version_no', integer({ from: 1 })),
    fileCount: integer({ from: 1 }),
    totalSize: integer({ from: 0 }),
    publishedAt: time,
    expiresAt: nullable(time),
  }),
);

/** `1` for a download; a page's own files may be asked for with anything. */
export const contentQuery = object({ download: optional(string) });
