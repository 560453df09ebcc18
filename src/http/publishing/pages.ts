// The handlers of pages and their versions, for their owners (F7).
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { PageRecord, VersionRecord } from '../../operations/publishing/pages.ts';
import type { Static } from '../../wire/shape.ts';
import type { pageQuery } from '../../wire/listing.ts';
import type { NewPageWire, NewVersionWire, ownedPageQuery, PageChangeWire } from '../../wire/publishing/page.ts';
import type { Exchange } from '../frame/exchange.ts';
import { renderLongList } from '../replies/render-list.ts';
import { created, ok } from '../replies/reply.ts';
import { keyInPath } from '../public/names.ts';
import { newPageOf, newVersionOf, pageChangesOf, renderOwnedVersion, renderPage } from './pages-wire.ts';

/** How versions are listed. */
export const VERSIONS = { perPart: 50, idOf: ({ seq }: VersionRecord) => seq } as const;

export interface PublishingParts {
  readonly operations: Operations;
}

/** The handlers by name; `routes.ts` assigns their paths. */
export function makePageHandlers({ operations }: PublishingParts) {
  return {
    list: async ({ query, bases }: Exchange<Static<typeof ownedPageQuery>>, caller: Caller) => {
      const { name = null, origin = null, ...page } = query;
      const list = async (part: Page) => operations.listPages(caller, { name, origin, ...part });
      const long = { ...page, perPart: 20, list, idOf: ({ id }: PageRecord) => id };
      return ok(await renderLongList(long, (one) => renderPage(one, bases.shares)));
    },
    create: async ({ body, bases }: Exchange<unknown, NewPageWire>, caller: Caller) =>
      created(renderPage(await operations.createPage(caller, newPageOf(body)), bases.shares)),
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderPage(await operations.getPage(caller, keyInPath(exchange)), exchange.bases.shares)),
    change: async (exchange: Exchange<unknown, PageChangeWire>, caller: Caller) =>
      ok(
        renderPage(
          await operations.changePage(caller, keyInPath(exchange), pageChangesOf(exchange.body)),
          exchange.bases.shares,
        ),
      ),
    remove: async (exchange: Exchange, caller: Caller) => {
      const key = keyInPath(exchange);
      await operations.deletePage(caller, key);
      return ok({ publish_key: key });
    },
    listVersions: async (exchange: Exchange<Static<typeof pageQuery>>, caller: Caller) => {
      const key = keyInPath(exchange);
      const list = async (part: Page) => operations.listPageVersions(caller, key, part);
      const long = { ...exchange.query, ...VERSIONS, list };
      return ok(await renderLongList(long, (one) => renderOwnedVersion(one, exchange.bases.shares)));
    },
    release: async (exchange: Exchange<unknown, NewVersionWire>, caller: Caller) => {
      const made = await operations.releaseVersion(caller, keyInPath(exchange), newVersionOf(exchange.body));
      return created(renderOwnedVersion(made, exchange.bases.shares));
    },
  };
}
