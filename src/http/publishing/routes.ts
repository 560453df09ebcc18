// The paths by which people manage what they have published (F7): everyone their own, and administrators all.
import { listOf, pageQuery } from '../../wire/listing.ts';
import {
  newPage,
  newVersion,
  ownedPage,
  ownedPageQuery,
  ownedVersion,
  pageChange,
  pageDeletion,
} from '../../wire/publishing/page.ts';
import { share, shareChange, shareQuery } from '../../wire/publishing/share.ts';
import { type Route, routesWith } from '../frame/route.ts';
import { makePageHandlers, type PublishingParts } from './pages.ts';
import { makeShareHandlers } from './shares.ts';

const ofUser = routesWith('user', 'envelope');

/** The rows of the table of routes. */
export function publishingRoutes(parts: PublishingParts): Route[] {
  const pages = makePageHandlers(parts);
  const shares = makeShareHandlers(parts);
  const created = { statuses: [201] } as const;
  // biome-ignore format: a table reads best with one route a line
  return [
    ofUser('GET /api/v1/publishes', 'List pages', { query: ownedPageQuery, reply: listOf(ownedPage), handler: pages.list }),
    ofUser('POST /api/v1/publishes', 'Publish a page of a session or of a scheduled task', { body: newPage, reply: ownedPage, ...created, handler: pages.create }),
    ofUser('GET /api/v1/publishes/:publish_key', 'Read a page', { reply: ownedPage, handler: pages.get }),
    ofUser('PATCH /api/v1/publishes/:publish_key', 'Change a page', { body: pageChange, reply: ownedPage, handler: pages.change }),
    ofUser('DELETE /api/v1/publishes/:publish_key', 'Delete a page with all its versions', { reply: pageDeletion, handler: pages.remove }),
    ofUser('GET /api/v1/publishes/:publish_key/versions', 'List the versions of a page', { query: pageQuery, reply: listOf(ownedVersion), handler: pages.listVersions }),
    ofUser('POST /api/v1/publishes/:publish_key/versions', 'Publish the next version of a page', { body: newVersion, bodyIsOptional: true, reply: ownedVersion, ...created, handler: pages.release }),
    ofUser('GET /api/v1/shares', 'List shares', { query: shareQuery, reply: listOf(share), handler: shares.list }),
    ofUser('GET /api/v1/shares/:share_code', 'Read a share', { reply: share, handler: shares.get }),
    ofUser('PATCH /api/v1/shares/:share_code', 'Change when a share ends', { body: shareChange, reply: share, handler: shares.change }),
    ofUser('DELETE /api/v1/shares/:share_code', 'Withdraw a share for good', { reply: share, handler: shares.withdraw }),
  ];
}
