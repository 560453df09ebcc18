// Publish pages and their versions, as their owners manage them (F7).
import {
  PAGE_LIMITS,
  PAGE_ORIGINS,
  SHARE_STATUSES,
  SHARE_TYPES,
  VERSION_TRIGGERS,
} from '../../domain/publishing/page.ts';
import { unprocessable } from '../../domain/errors.ts';
import { array, object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { boolean, integer, line, oneOf, string, text, time, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, refined, type Static } from '../shape.ts';
import { pageDetailFields, pageOwner, versionFields } from './public-page.ts';

/** A path in the workspace (F13). */
const entryPath = refined(
  line({ max: PAGE_LIMITS.entryPath }),
  (found, path) => {
    if (!found.startsWith('/')) throw unprocessable(path, 'must be a path in the workspace, which begins with /');
    return found;
  },
  { pattern: '^/' },
);

const tags = refined(
  array(line({ max: PAGE_LIMITS.tag }), { max: PAGE_LIMITS.tags }),
  (found, path) => {
    if (new Set(found).size < found.length) throw unprocessable(path, 'must not contain duplicates');
    return found;
  },
  { uniqueItems: true },
);

/** What can be changed of a page. `entry_path` is that of its next version. */
const changeable = {
  name: optional(line({ max: PAGE_LIMITS.name })),
  description: nullish(text({ max: PAGE_LIMITS.description })),
  category: nullish(line({ max: PAGE_LIMITS.category })),
  tags: optional(tags),
  entry_path: optional(entryPath),
  public_to_board_enabled: optional(boolean),
  distraction_free_mode_enabled: optional(boolean),
};

/** A new page: of a session, which gets its first version at once, or of a scheduled task. */
export const newPage = named(
  'NewPage',
  refined(
    object({
      ...changeable,
      name: line({ max: PAGE_LIMITS.name }),
      entry_path: entryPath,
      session_id: nullish(uuid),
      scheduled_task_id: nullish(uuid),
    }),
    (found, path) => {
      const sources = [found.session_id, found.scheduled_task_id].filter((id) => id != null);
      if (sources.length !== 1)
        throw unprocessable(path === '' ? 'session_id' : path, 'exactly one of session_id and scheduled_task_id');
      return found;
    },
  ),
);
export type NewPageWire = Static<typeof newPage>;

export const pageChange = named('PageChange', object(changeable, { atLeastOne: true }));
export type PageChangeWire = Static<typeof pageChange>;

/** Which pages to list; `name` is the whole name. */
export const ownedPageQuery = object({
  name: optional(line({ max: PAGE_LIMITS.name })),
  origin: optional(oneOf(PAGE_ORIGINS)),
  ...pageFields,
});

/**
 * A page with what only its owner reads. `entry_path` is that of its next version, `page_url` and
 * `latest_share_url` are pages for people: of the page, and of its latest version.
 */
export const ownedPage = named(
  'Page',
  object({
    ...pageDetailFields,
    publish_center_id: integer({ from: 1 }),
    owner: pageOwner,
    session_id: nullable(uuid),
    scheduled_task_id: nullable(uuid),
    entry_path: string,
    version_count: integer({ from: 0 }),
    page_url: string,
    latest_share_url: nullable(string),
    created_at: time,
    updated_at: time,
  }),
);
export type OwnedPageWire = Static<typeof ownedPage>;

/** The key of what was deleted. */
export const pageDeletion = named('PageDeletion', object({ publish_key: string }));

/** What a new version is made from: the page's own entry, unless another one is given. */
export const newVersion = named(
  'NewPageVersion',
  object({ reason: nullish(text({ max: PAGE_LIMITS.reason })), entry_path: optional(entryPath) }),
);
export type NewVersionWire = Static<typeof newVersion>;

/** A version with the state of its share. `share_url` is its page for people. */
export const ownedVersionFields = {
  ...versionFields,
  share_type: oneOf(SHARE_TYPES),
  share_status: oneOf(SHARE_STATUSES),
  share_url: string,
  trigger_type: oneOf(VERSION_TRIGGERS),
  reason: nullable(string),
  file_count: integer({ from: 1 }),
  total_size: integer({ from: 0 }),
  expires_at: nullable(time),
  withdrawn_at: nullable(time),
};

export const ownedVersion = named('PageVersion', object(ownedVersionFields));
export type OwnedVersionWire = Static<typeof ownedVersion>;
