// The routes of the pages for people (F2): they read no credential, and their errors are pages, too.
import { type Route, routesWith } from '../frame/route.ts';
import { makeShareHandlers, type ShareParts } from './handlers.ts';
import { sendStaticFile } from './static-files.ts';

const ofAnyone = routesWith('none', 'bare');

/** The rows of the table of routes. */
export function shareRoutes(parts: ShareParts): Route[] {
  const { board, page, share } = makeShareHandlers(parts);
  const sendsPage = { sendsPage: true } as const;
  // biome-ignore format: a table reads best with one route a line
  return [
    ofAnyone('GET /share', 'Show the pages of the board', { ...sendsPage, handler: board }),
    ofAnyone('GET /share/static/:name', 'Download the stylesheet or the script of the pages', { sendsFile: true, statuses: [200], handler: sendStaticFile }),
    ofAnyone('GET /share/p/:publish_key', 'Show the latest version of a page', { ...sendsPage, handler: page }),
    ofAnyone('GET /share/:share_code', 'Show a share', { ...sendsPage, handler: share }),
  ];
}
