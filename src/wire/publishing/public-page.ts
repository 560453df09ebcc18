// Published pages and their versions, as everybody reads them (§2.13, §4.7).
import { PAGE_LIMITS, PAGE_ORIGINS, SHARE_TYPES } from '../../domain/publishing/page.ts';
import { array, object } from '../composites.ts';
import { calendarDate, digits, optionalVersionNo, timeZone } from '../query.ts';
import { boolean, integer, line, oneOf, string, time } from '../scalars.ts';
import { named, nullable, optional, type Static } from '../shape.ts';
import { publishedFile } from './file.ts';

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
export const pageOwner = named('PageOwner', object({ account: string, name: string, department: string }));

/** `YYYY-MM-DD HH:mm:ss`, Beijing time. */
const beijingTime = string;

/** A page on the board. */
export const publicPageItem = named(
  'PublicPageItem',
  object({
    publish_key: string,
    name: string,
    description: nullable(string),
    category: nullable(string),
    latest_published_at: beijingTime,
    version_count: integer({ from: 0 }),
    created_at: beijingTime,
    updated_at: beijingTime,
    owner: pageOwner,
  }),
);
export type PublicPageItemWire = Static<typeof publicPageItem>;

export const publicPageItems = array(publicPageItem);

/**
 * The fields of a page's detail. Those of its latest version are of the last one, while no version can be read, and null before
 * the first; `workspace_file` is that of a version that can be read.
 */
export const pageDetailFields = {
  publish_key: string,
  name: string,
  description: nullable(string),
  category: nullable(string),
  origin: oneOf(PAGE_ORIGINS),
  tags: array(string),
  public_to_board_enabled: boolean,
  latest_share_code: nullable(string),
  latest_entry_path: nullable(string),
  latest_published_at: nullable(beijingTime),
  distraction_free_mode_enabled: boolean,
  share_type: nullable(oneOf(SHARE_TYPES)),
  workspace_file: nullable(publishedFile),
};

export const publicPage = named('PublicPage', object(pageDetailFields));
export type PublicPageWire = Static<typeof publicPage>;

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
  version_no: integer({ from: 1 }),
  share_code: string,
  entry_path: string,
  published_at: nullable(time),
  is_latest: boolean,
};

export const publicVersion = named('PublicVersion', object(versionFields));
export type PublicVersionWire = Static<typeof publicVersion>;

export const publicVersions = array(publicVersion);
