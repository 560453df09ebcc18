// The handlers of shares, for their owners (F7).
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { ShareChangeWire, shareQuery } from '../../wire/publishing/share.ts';
import type { Static } from '../../wire/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { renderLongList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';
import { codeInPath } from '../public/names.ts';
import { type PublishingParts, VERSIONS } from './pages.ts';
import { renderOwnedShare } from './pages-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeShareHandlers({ operations }: PublishingParts) {
  return {
    list: async ({ query, bases }: Exchange<Static<typeof shareQuery>>, caller: Caller) => {
      const { publish_key: pageKey = null, ...page } = query;
      const list = async (part: Page) => operations.listShares(caller, { pageKey, ...part });
      return ok(await renderLongList({ ...page, ...VERSIONS, list }, (one) => renderOwnedShare(one, bases.shares)));
    },
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderOwnedShare(await operations.getShare(caller, codeInPath(exchange)), exchange.bases.shares)),
    change: async (exchange: Exchange<unknown, ShareChangeWire>, caller: Caller) => {
      const { expires_at: expiresAt } = exchange.body;
      return ok(
        renderOwnedShare(
          await operations.changeShare(caller, codeInPath(exchange), { expiresAt }),
          exchange.bases.shares,
        ),
      );
    },
    withdraw: async (exchange: Exchange, caller: Caller) =>
      ok(renderOwnedShare(await operations.withdrawShare(caller, codeInPath(exchange)), exchange.bases.shares)),
  };
}
