// Published pages and their versions, as everybody reads them (§2.13, §4.7).
import { PAGE_LIMITS, PAGE_ORIGINS, SHARE_TYPES, type ShareType } from '../../domain/publishing/page.ts';
import { beijingTime as renderBeijingTime } from '../../domain/publishing/public-time.ts';
import { array, object } from '../shapes/composites.ts';
import { called, made, record } from '../shapes/record.ts';
import { calendarDate, digits, optionalVersionNo, timeZone } from '../shapes/query.ts';
import { boolean, integer, line, oneOf, string, time } from '../shapes/scalars.ts';
import { named, nullable, optional, type Shape, type Static } from '../shapes/shape.ts';
import { type Addressing, publishedFile, renderEntry } from './file.ts';

/** Most pages of one reply. */
const MAX_PAGES = 1_000;

/** Which pages of the board to list: `name` is searched literally, the other two match exactly. */
export const publicPageQuery = object({
  account: optional(line({ min: 0, max: 200 })),
  category: optional(line({ min: 0, max: PAGE_LIMITS.category })),
  name: optional(line({ min: 0, max: PAGE_LIMITS.name })),
  limit: digits({ from: 1, to: MAX_PAGES, absent: MAX_PAGES }),
  offset: digits({ from: 0, to: Number.MAX_SAFE_INTEGER, absent: 0 }),
});

/** Whom a page belongs to. */
export const pageOwner = named('PageOwner', record({ account: string, name: string, department: string }));

/** `YYYY-MM-DD HH:mm:ss`, Beijing time. */
const beijingTime: Shape<string, string, number> = { ...string, render: renderBeijingTime };

/** A page on the board. */
export const publicPageItem = named(
  'PublicPageItem',
  record({
    key: called('publish_key', string),
    name: string,
    description: nullable(string),
    category: nullable(string),
    latestPublishedAt: made(beijingTime, ({ latest }: { readonly latest: KnownVersion }) => latest.publishedAt),
    versionCount: integer({ from: 0 }),
    createdAt: beijingTime,
    updatedAt: beijingTime,
    owner: pageOwner,
  }),
);

export const publicPageItems = array(publicPageItem);

/** What stays of a version that can't be read any more. */
interface KnownVersion {
  readonly shareCode: string;
  readonly shareType: ShareType;
  readonly entryPath: string;
  readonly publishedAt: number;
}

interface Versions {
  readonly latest: (KnownVersion & { readonly entry: { readonly path: string } }) | null;
  readonly lastKnown: KnownVersion | null;
}

/** Of a page whose versions have all ended, clients still get what it was (§2.13). */
const known = ({ latest, lastKnown }: Versions) => latest ?? lastKnown;

/**
 * The fields of a page's detail. Those of its latest version are of the last one, while no version can be read, and null before
 * the first; `workspace_file` is that of a version that can be read.
 */
export const pageDetailFields = {
  key: called('publish_key', string),
  name: string,
  description: nullable(string),
  category: nullable(string),
  origin: oneOf(PAGE_ORIGINS),
  tags: array(string),
  isOnBoard: called('public_to_board_enabled', boolean),
  latestShareCode: made(nullable(string), (page: Versions) => known(page)?.shareCode ?? null),
  latestEntryPath: made(nullable(string), (page: Versions) => known(page)?.entryPath ?? null),
  latestPublishedAt: made(nullable(beijingTime), (page: Versions) => known(page)?.publishedAt ?? null),
  isDistractionFree: called('distraction_free_mode_enabled', boolean),
  shareType: made(nullable(oneOf(SHARE_TYPES)), (page: Versions) => known(page)?.shareType ?? null),
  workspaceFile: made(
    nullable(publishedFile),
    (page: Versions & Addressing) => page.latest && renderEntry(page.latest, page),
  ),
};

export const publicPage = named('PublicPage', record(pageDetailFields));

/** Which versions to list: of one day, or of a range whose both days count, in the days of a zone. */
export const publicVersionQuery = object({
  version_no: optionalVersionNo,
  date: optional(calendarDate),
  date_from: optional(calendarDate),
  date_to: optional(calendarDate),
  tz: timeZone('UTC'),
  limit: digits({ from: 1, to: 200, absent: 50 }),
  offset: digits({ from: 0, to: Number.MAX_SAFE_INTEGER, absent: 0 }),
});
export type PublicVersionQueryWire = Static<typeof publicVersionQuery>;

/** The fields of a version that everybody reads. */
export const versionFields = {
  no: called('version_no', integer({ from: 1 })),
  shareCode: string,
  entryPath: string,
  publishedAt: nullable(time),
  isLatest: boolean,
};

export const publicVersion = named('PublicVersion', record(versionFields));

export const publicVersions = array(publicVersion);
