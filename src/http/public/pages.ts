// The handlers of what everybody may read of published pages (§4.7). They read no credential.
import { createHash } from 'node:crypto';
import { mediaTypeOf } from '../../files/media-type.ts';
import type {
  PublicPage,
  PublicPages,
  PublicVersion,
  RenderVersion,
  VersionTree,
} from '../../operations/publishing/public-pages.ts';
import {
  publicPage,
  publicPageItem,
  type publicPageQuery,
  publicVersion,
  type PublicVersionQueryWire,
} from '../../wire/publishing/public-page.ts';
import { publicShare, shareMetadata } from '../../wire/publishing/public-share.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { PublishedNodeWire } from '../../wire/publishing/file.ts';
import { isKnown } from '../files/conditions.ts';
import type { Exchange } from '../frame/exchange.ts';
import { writeHead } from '../replies/head.ts';
import { Streamed } from '../replies/json-pieces.ts';
import { ok } from '../replies/reply.ts';
import type { CountMisses } from './miss-limit.ts';
import { codeInPath, keyInPath, versionNoInPath } from './names.ts';
import { renderTree, withBase } from './tree-wire.ts';
import { versionFilterOf } from './version-query.ts';

export interface PublicParts {
  readonly operations: { readonly publicPages: PublicPages };
  readonly countMisses: CountMisses;
}

/** The handlers by name; `routes.ts` assigns their paths. */
export function makePublicPageHandlers({ operations, countMisses }: PublicParts) {
  const { publicPages } = operations;
  return {
    list: async ({ query }: Exchange<Static<typeof publicPageQuery>>) => {
      const { items } = await publicPages.board(query);
      return ok(items.filter(hasVersion).map((page) => publicPageItem.render(page)));
    },
    get: async (exchange: Exchange) =>
      countMisses(exchange.req, async () =>
        ok(
          publicPage.render({
            ...(await publicPages.page(keyInPath(exchange))),
            base: exchange.bases.shares,
            mediaTypeOf,
          }),
        ),
      ),
    versions: async (exchange: Exchange<PublicVersionQueryWire>) =>
      countMisses(exchange.req, async () => {
        const found = await publicPages.versions(keyInPath(exchange), versionFilterOf(exchange.query));
        return ok(found.items.map((version) => publicVersion.render(version)));
      }),
    files: async (exchange: Exchange) =>
      countMisses(exchange.req, async () => {
        const { pause, bases } = exchange;
        const render: RenderVersion = (files, version) => renderTree(files, version, pause);
        const tree = await publicPages.tree(keyInPath(exchange), versionNoInPath(exchange), render);
        return sendTree(exchange, tree, bases.shares);
      }),
    share: async (exchange: Exchange) =>
      countMisses(exchange.req, async () => {
        const { page, version } = await publicPages.share(codeInPath(exchange));
        return ok(publicShare.render({ ...page, ...version, base: exchange.bases.shares, mediaTypeOf }));
      }),
    metadata: async (exchange: Exchange) =>
      countMisses(exchange.req, async () => {
        const { page, version } = await publicPages.share(codeInPath(exchange));
        return ok(shareMetadata.render({ ...page, ...version, mediaTypeOf }));
      }),
  };
}

/** A version may end while the board is read. */
function hasVersion(page: PublicPage): page is PublicPage & { readonly latest: PublicVersion } {
  return page.latest !== null;
}

/** A tree, or that the client has it already: it never changes, but whether its share exists may. */
function sendTree({ req, res }: Exchange, { sha256, pieces }: VersionTree, base: string) {
  const body = new Streamed<readonly PublishedNodeWire[]>(() => withBase(pieces(), base));
  if (sha256 === null) return ok(body);
  const tag = createHash('sha256').update(`${sha256} ${base}`).digest('hex').slice(0, 32);
  const headers = { ETag: `"${tag}"`, 'Cache-Control': 'no-cache' };
  if (!isKnown(req.headers, { etag: headers.ETag, lastModified: null })) return { ...ok(body), headers };
  writeHead(res, 304, headers);
  res.end();
  return undefined;
}
