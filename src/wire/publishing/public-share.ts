// Shares, as everybody reads them (F9).
import { SHARE_TYPES } from '../../domain/publishing/page.ts';
import { array, object } from '../composites.ts';
import { boolean, integer, oneOf, string, time } from '../scalars.ts';
import { named, nullable, optional, type Static } from '../shape.ts';
import { publishedFile } from './file.ts';
import { pageOwner } from './public-page.ts';

/** A share and what it shows. */
export const publicShare = named(
  'PublicShare',
  object({
    share_code: string,
    share_type: oneOf(SHARE_TYPES),
    publish_key: string,
    name: string,
    description: nullable(string),
    category: nullable(string),
    tags: array(string),
    owner: pageOwner,
    version_no: integer({ from: 1 }),
    is_latest: boolean,
    entry_path: string,
    published_at: time,
    expires_at: nullable(time),
    distraction_free_mode_enabled: boolean,
    workspace_file: publishedFile,
  }),
);
export type PublicShareWire = Static<typeof publicShare>;

/** What a share contains. `size` and `sha256` are those of its entry, `total_size` is that of all its files; in bytes. */
export const shareMetadata = named(
  'ShareMetadata',
  object({
    share_code: string,
    share_type: oneOf(SHARE_TYPES),
    title: string,
    description: nullable(string),
    mime_type: nullable(string),
    size: integer({ from: 0 }),
    sha256: string,
    entry_path: string,
    version_no: integer({ from: 1 }),
    file_count: integer({ from: 1 }),
    total_size: integer({ from: 0 }),
    published_at: time,
    expires_at: nullable(time),
  }),
);
export type ShareMetadataWire = Static<typeof shareMetadata>;

/** `1` for a download; a page's own files may be asked for with anything. */
export const contentQuery = object({ download: optional(string) });
