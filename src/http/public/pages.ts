// The handlers of what everybody may read of published pages (§4.7). They read no credential.
import { notFound } from '../../domain/errors.ts';
import type { PublicPage, PublicPages, PublicVersion } from '../../operations/publishing/public-pages.ts';
import type { publicPageQuery, PublicVersionQueryWire } from '../../wire/publishing/public-page.ts';
import type { Static } from '../../wire/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../frame/reply.ts';
import type { CountMisses } from './miss-limit.ts';
import { codeInPath, keyInPath, versionNoInPath } from './names.ts';
import { renderDetail, renderItem, renderMetadata, renderShare, renderVersion } from './pages-wire.ts';
import { renderTree } from './tree-wire.ts';
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
      return ok(items.filter(hasVersion).map(renderItem));
    },
    get: async (exchange: Exchange) =>
      countMisses(exchange.req, async () =>
        ok(renderDetail(await publicPages.page(keyInPath(exchange)), exchange.bases.shares)),
      ),
    versions: async (exchange: Exchange<PublicVersionQueryWire>) =>
      countMisses(exchange.req, async () => {
        const found = await publicPages.versions(keyInPath(exchange), versionFilterOf(exchange.query));
        return ok(found.items.map(renderVersion));
      }),
    files: async (exchange: Exchange) =>
      countMisses(exchange.req, async () => {
        const [key, no] = [keyInPath(exchange), versionNoInPath(exchange)];
        const [version] = (await publicPages.versions(key, { no, limit: 1, offset: 0 })).items;
        if (version === undefined) throw notFound('Version');
        return ok(renderTree(await publicPages.files(key, no), { version, base: exchange.bases.shares }));
      }),
    share: async (exchange: Exchange) =>
      countMisses(exchange.req, async () => {
        const { page, version } = await publicPages.share(codeInPath(exchange));
        return ok(renderShare(page, version, exchange.bases.shares));
      }),
    metadata: async (exchange: Exchange) =>
      countMisses(exchange.req, async () => {
        const { page, version } = await publicPages.share(codeInPath(exchange));
        return ok(renderMetadata(page, version));
      }),
  };
}

/** A version may end while the board is read. */
function hasVersion(page: PublicPage): page is PublicPage & { readonly latest: PublicVersion } {
  return page.latest !== null;
}
