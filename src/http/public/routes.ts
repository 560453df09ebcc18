// The paths of the public interface (§4.7): they read no credential, and tell no more than the owner of a page chose.
import { publishedTree } from '../../wire/publishing/file.ts';
import {
  publicPage,
  publicPageItems,
  publicPageQuery,
  publicVersionQuery,
  publicVersions,
} from '../../wire/publishing/public-page.ts';
import { contentQuery, publicShare, shareMetadata } from '../../wire/publishing/public-share.ts';
import { type Route, routesWith } from '../frame/route.ts';
import { makeContentHandlers } from './contents.ts';
import { makePublicPageHandlers, type PublicParts } from './pages.ts';

const ofAnyone = routesWith('none', 'envelope');

/** The rows of the table of routes. */
export function publicRoutes(parts: PublicParts): Route[] {
  const pages = makePublicPageHandlers(parts);
  const { content, asset, media } = makeContentHandlers(parts);
  const file = { query: contentQuery, sendsFile: true } as const;
  // biome-ignore format: a table reads best with one route a line
  return [
    ofAnyone('GET /api/v1/public/publishes', 'List the pages of the board, the last published first', { query: publicPageQuery, reply: publicPageItems, handler: pages.list }),
    ofAnyone('GET /api/v1/public/publishes/:publish_key', 'Read a page', { reply: publicPage, handler: pages.get }),
    ofAnyone('GET /api/v1/public/publishes/:publish_key/versions', 'List the versions of a page', { query: publicVersionQuery, reply: publicVersions, handler: pages.versions }),
    ofAnyone('GET /api/v1/public/publishes/:publish_key/versions/:version_no/files', 'List the files of a version', { reply: publishedTree, handler: pages.files }),
    ofAnyone('GET /api/v1/public/shares/:share_code', 'Read a share', { reply: publicShare, handler: pages.share }),
    ofAnyone('GET /api/v1/public/shares/:share_code/metadata', 'Read what a share contains', { reply: shareMetadata, handler: pages.metadata }),
    ofAnyone('GET /api/v1/public/shares/:share_code/content', 'Download the entry of a share', { ...file, handler: content }),
    ofAnyone('GET /api/v1/public/shares/:share_code/assets/*path', 'Download a file of a share, by its path from the folder of the entry', { ...file, handler: asset }),
    ofAnyone('GET /api/v1/public/shares/:share_code/media', 'Download the image, audio or video of a share', { ...file, handler: media }),
  ];
}
