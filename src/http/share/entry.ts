// The entry of a share: what it is to a browser, and its addresses.
import { folderOf } from '../../domain/publishing/manifest.ts';
import { assetPathOf } from '../../domain/publishing/public-address.ts';
import { mediaTypeOf, presentationOf } from '../../files/media-type.ts';
import type { PublicVersion } from '../../operations/publishing/public-pages.ts';

/** How an entry is shown. `text` is tried: a file of an unknown type may turn out to be binary. */
export type View = 'html' | 'markdown' | 'table' | 'image' | 'audio' | 'video' | 'pdf' | 'text' | 'download';

export interface Entry {
  readonly name: string;
  readonly mediaType: string | null;
  readonly view: View;
  /** Bytes. */
  readonly size: number;
  /** Its folder in the workspace; begins and ends with `/`. */
  readonly folder: string;
  /** Prefix of the addresses of all files of the version; ends with `/`. */
  readonly base: string;
  readonly address: string;
  readonly downloadAddress: string;
}

const BY_ENDING: readonly (readonly [RegExp, View])[] = [
  [/\.html?$/i, 'html'],
  [/\.(?:md|markdown)$/i, 'markdown'],
  [/\.(?:csv|tsv|tab)$/i, 'table'],
];
const BY_TYPE: readonly (readonly [RegExp, View])[] = [
  [/^image\/(?:apng|avif|bmp|gif|jpeg|png|svg\+xml|webp|vnd\.microsoft\.icon|x-icon)$/, 'image'],
  [/^audio\//, 'audio'],
  [/^video\//, 'video'],
  [/^application\/pdf$/, 'pdf'],
];

/** `asText`: whether the text behind a table is shown rather than the table. */
export function entryOf(version: PublicVersion, asText = false): Entry {
  const { path, size } = version.entry;
  const folder = folderOf(path);
  const name = path.slice(folder.length);
  const mediaType = mediaTypeOf(name);
  const address = assetPathOf(version, path);
  return {
    name,
    mediaType,
    view: asText && isTable(name) ? 'text' : viewOf(name, mediaType),
    size,
    folder,
    base: assetPathOf(version, folder),
    address,
    downloadAddress: `${address}?download=1`,
  };
}

/** Whether it is shown as a table, and its text behind it. */
export const isTable = (name: string) => viewOf(name, null) === 'table';

function viewOf(name: string, mediaType: string | null): View {
  const known = BY_ENDING.find(([ending]) => ending.test(name)) ?? BY_TYPE.find(([type]) => type.test(mediaType ?? ''));
  if (known !== undefined) return known[1];
  const isText = mediaType === null || presentationOf(name, 'inline').contentType.startsWith('text/plain');
  return isText ? 'text' : 'download';
}
