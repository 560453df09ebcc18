// What everybody may read of what is published: the public interface (§4.7), and the pages for people (F2). No credential is read,
// and nothing is told that the owner of a page did not choose.
import { endpoints } from '../endpoint.ts';
import { publishedTree } from './file.ts';
import { publicPage, publicPageItems, publicPageQuery, publicVersionQuery, publicVersions } from './public-page.ts';
import { contentQuery, publicShare, shareMetadata } from './public-share.ts';

const file = { query: contentQuery, sendsFile: true } as const;

// biome-ignore format: a table reads best with one endpoint a line
export const publicPages = endpoints('none', 'envelope', {
  list: { route: 'GET /api/v1/public/publishes', summary: 'List the pages of the board, the last published first', query: publicPageQuery, reply: publicPageItems },
  get: { route: 'GET /api/v1/public/publishes/:publish_key', summary: 'Read a page', reply: publicPage },
  versions: { route: 'GET /api/v1/public/publishes/:publish_key/versions', summary: 'List the versions of a page', query: publicVersionQuery, reply: publicVersions },
  files: { route: 'GET /api/v1/public/publishes/:publish_key/versions/:version_no/files', summary: 'List the files of a version', reply: publishedTree },
  share: { route: 'GET /api/v1/public/shares/:share_code', summary: 'Read a share', reply: publicShare },
  metadata: { route: 'GET /api/v1/public/shares/:share_code/metadata', summary: 'Read what a share contains', reply: shareMetadata },
  content: { route: 'GET /api/v1/public/shares/:share_code/content', summary: 'Download the entry of a share', ...file },
  asset: { route: 'GET /api/v1/public/shares/:share_code/assets/*path', summary: 'Download a file of a share, by its path from the folder of the entry', ...file },
  media: { route: 'GET /api/v1/public/shares/:share_code/media', summary: 'Download the image, audio or video of a share', ...file },
});

const sendsPage = { sendsPage: true } as const;

// biome-ignore format: a table reads best with one endpoint a line
export const sharePages = endpoints('none', 'bare', {
  board: { route: 'GET /share', summary: 'Show the pages of the board', ...sendsPage },
  staticFile: { route: 'GET /share/static/:name', summary: 'Download the stylesheet or the script of the pages', sendsFile: true, statuses: [200] },
  page: { route: 'GET /share/p/:publish_key', summary: 'Show the latest version of a page', ...sendsPage },
  share: { route: 'GET /share/:share_code', summary: 'Show a share', ...sendsPage },
});
