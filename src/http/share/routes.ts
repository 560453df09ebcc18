// The routes of the pages for people.
import { type Route, routesWith } from '../frame/route.ts';
import { sendStaticFile } from './static-files.ts';

const ofAnyone = routesWith('none', 'bare');

export function shareRoutes(): Route[] {
  // biome-ignore format: a table reads best with one route a line
  return [
    ofAnyone('GET /share/static/:name', 'Download the stylesheet or the script of the pages', { sendsFile: true, statuses: [200], handler: sendStaticFile }),
  ];
}
