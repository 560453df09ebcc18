// Publish pages and their versions, as their owners manage them (F7).
import {
  PAGE_LIMITS,
  PAGE_ORIGINS,
  SHARE_STATUSES,
  SHARE_TYPES,
  VERSION_TRIGGERS,
} from '../../domain/publishing/page.ts';
import { pagePathOf, sharePathOf } from '../../domain/publishing/public-address.ts';
import { unprocessable } from '../../domain/errors.ts';
import { array } from '../shapes/composites.ts';
import { endpoints } from '../endpoint.ts';
import { listOf, pageFields, pageQuery } from '../listing.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { boolean, integer, line, oneOf, string, text, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, optional, orElse, refersTo, refined } from '../shapes/shape.ts';
import type { Addressing } from './file.ts';
import { pageKey } from './names.ts';
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

const name = line({ max: PAGE_LIMITS.name });
const description = nullable(text({ max: PAGE_LIMITS.description }));
const category = nullable(line({ max: PAGE_LIMITS.category }));

/** A new page: of a session, which gets its first version at once, or of a scheduled task. */
const newPage = named(
  'NewPage',
  refined(
    request({
      name,
      description: orElse(description, null),
      category: orElse(category, null),
      tags: orElse(tags, []),
      entryPath,
      isOnBoard: called('public_to_board_enabled', orElse(boolean, false)),
      isDistractionFree: called('distraction_free_mode_enabled', orElse(boolean, false)),
      sessionId: orElse(nullable(refersTo('sessions', uuid)), null),
      scheduledTaskId: orElse(nullable(uuid), null),
    }),
    (found, path) => {
      if ((found.sessionId === null) === (found.scheduledTaskId === null))
        throw unprocessable(path === '' ? 'session_id' : path, 'exactly one of session_id and scheduled_task_id');
      return found;
    },
  ),
);

export type NewPageWire = JsonOf<typeof newPage>;

/** What can be changed of a page. `entry_path` is that of its next version. */
const pageChange = named(
  'PageChange',
  request(
    {
      name: optional(name),
      description: optional(description),
      category: optional(category),
      tags: optional(tags),
      entryPath: optional(entryPath),
      isOnBoard: called('public_to_board_enabled', optional(boolean)),
      isDistractionFree: called('distraction_free_mode_enabled', optional(boolean)),
    },
    { atLeastOne: true },
  ),
);
export type PageChangeWire = JsonOf<typeof pageChange>;

/** Which pages to list; `name` is the whole name. */
const ownedPageQuery = request({
  name: orElse(name, null),
  origin: orElse(oneOf(PAGE_ORIGINS), null),
  ...pageFields,
});

interface Addressed extends Addressing {
  readonly key: string;
  readonly latest: { readonly shareCode: string } | null;
}

/**
 * A page with what only its owner reads. `entry_path` is that of its next version, `page_url` and
 * `latest_share_url` are pages for people: of the page, and of its latest version.
 */
const ownedPage = named(
  'Page',
  record({
    ...pageDetailFields,
    id: called('publish_center_id', integer({ from: 1 })),
    owner: pageOwner,
    sessionId: nullable(uuid),
    scheduledTaskId: nullable(uuid),
    entryPath: string,
    versionCount: integer({ from: 0 }),
    pageUrl: made(string, ({ base, key }: Addressed) => base + pagePathOf(key)),
    latestShareUrl: made(
      nullable(string),
      ({ base, latest }: Addressed) => latest && base + sharePathOf(latest.shareCode),
    ),
    createdAt: time,
    updatedAt: time,
  }),
);
export type OwnedPageWire = JsonOf<typeof ownedPage>;

/** The key of what was deleted. */
const pageDeletion = named('PageDeletion', record({ key: called('publish_key', string) }));

/** What a new version is made from: the page's own entry, unless another one is given. */
const newVersion = named(
  'NewPageVersion',
  request({
    reason: orElse(nullable(text({ max: PAGE_LIMITS.reason })), null),
    entryPath: optional(entryPath),
  }),
);

/** A version with the state of its share. `share_url` is its page for people. */
export const ownedVersionFields = {
  ...versionFields,
  shareType: oneOf(SHARE_TYPES),
  status: called('share_status', oneOf(SHARE_STATUSES)),
  shareUrl: made(
    string,
    ({ base, shareCode }: Addressing & { readonly shareCode: string }) => base + sharePathOf(shareCode),
  ),
  trigger: called('trigger_type', oneOf(VERSION_TRIGGERS)),
  reason: nullable(string),
  fileCount: integer({ from: 1 }),
  totalSize: integer({ from: 0 }),
  expiresAt: nullable(time),
  withdrawnAt: nullable(time),
};

const ownedVersion = named('PageVersion', record(ownedVersionFields));
export type OwnedVersionWire = JsonOf<typeof ownedVersion>;

/** How many versions of the longest kind are read at once. */
export const VERSIONS_PER_PART = 50;

/** Copying a large workspace's rows and waiting for its last run to be collected takes longer than other calls. */
const PUBLISHING_MS = 120_000;

const base = 'shares' as const;
const one = { params: { publish_key: pageKey }, reply: ownedPage, base };

/** Pages and their versions: everyone's own, and for administrators all (F7). */
// biome-ignore format: a table reads best with one endpoint a line
export const publishes = endpoints('user', 'envelope', {
  list: { route: 'GET /api/v1/publishes', summary: 'List pages', operation: 'listPages', query: ownedPageQuery, reply: listOf(ownedPage), base, perPart: 20 },
  create: { route: 'POST /api/v1/publishes', summary: 'Publish a page of a session or of a scheduled task', operation: 'createPage', body: newPage, reply: ownedPage, base, statuses: [201], patienceMs: PUBLISHING_MS },
  get: { route: 'GET /api/v1/publishes/:publish_key', summary: 'Read a page', operation: 'getPage', ...one },
  change: { route: 'PATCH /api/v1/publishes/:publish_key', summary: 'Change a page', operation: 'changePage', ...one, body: pageChange },
  remove: { route: 'DELETE /api/v1/publishes/:publish_key', summary: 'Delete a page with all its versions', operation: 'deletePage', params: one.params, reply: pageDeletion },
  listVersions: { route: 'GET /api/v1/publishes/:publish_key/versions', summary: 'List the versions of a page', operation: 'listPageVersions', ...one, query: pageQuery, reply: listOf(ownedVersion), perPart: VERSIONS_PER_PART },
  release: { route: 'POST /api/v1/publishes/:publish_key/versions', summary: 'Publish the next version of a page', operation: 'publishVersion', ...one, body: newVersion, bodyIsOptional: true, reply: ownedVersion, statuses: [201], patienceMs: PUBLISHING_MS },
});
