// The handlers of the pages for people (F2).
import { notFound } from '../../domain/errors.ts';
import { pagePathOf, sharePathOf } from '../../domain/publishing/public-address.ts';
import type { Settings } from '../../domain/settings.ts';
import type { PublicPages } from '../../operations/publishing/public-pages.ts';
import type { Renderer } from '../../rendering/renderer.ts';
import type { Exchange } from '../frame/exchange.ts';
import type { Reply } from '../replies/reply.ts';
import type { CountMisses } from '../public/miss-limit.ts';
import { BOARD_PAGE_SIZE, type BoardSearch, renderBoard } from './board-page.ts';
import { entryOf } from './entry.ts';
import { makeReadText } from './entry-text.ts';
import { pageReply, redirectTo } from './page-reply.ts';
import { PICKER_VERSIONS } from './picker.ts';
import { renderSharePage } from './share-page.ts';
import { zoneOf } from './zone.ts';

export interface ShareParts {
  readonly operations: { readonly publicPages: PublicPages };
  readonly renderer: Pick<Renderer, 'render'>;
  readonly countMisses: CountMisses;
  readonly settings: () => Pick<Settings, 'publish'>;
}

type Shared = Awaited<ReturnType<PublicPages['share']>>;

/** Where a page is shown. */
interface PageAddress {
  readonly path: string;
  readonly origin: string;
  readonly query: URLSearchParams;
}

export function makeShareHandlers({ operations, renderer, countMisses, settings }: ShareParts) {
  const { publicPages } = operations;
  const readText = makeReadText({ publicPages, renderer });
  const zone = () => zoneOf(settings().publish.timeZone);

  async function show({ page, version }: Shared, { path, origin, query }: PageAddress): Promise<Reply> {
    const entry = entryOf(version, query.get('as') === 'text');
    const [text, versions] = await Promise.all([
      readText(page, version, entry),
      page.versionCount > 1 ? publicPages.versions(page.key, { limit: PICKER_VERSIONS, offset: 0 }) : { items: [] },
    ]);
    return pageReply((nonce) =>
      renderSharePage({ page, version, entry, versions: versions.items, text, path, origin, zone: zone(), nonce }),
    );
  }

  return {
    board: async ({ req, bases }: Exchange): Promise<Reply> => {
      const search = searchOf(queryOf(req.url));
      const { q, category, page } = search;
      const [{ items, total }, categories] = await Promise.all([
        publicPages.board({
          ...(q !== '' && { name: q }),
          ...(category !== null && { category }),
          limit: BOARD_PAGE_SIZE,
          offset: (page - 1) * BOARD_PAGE_SIZE,
        }),
        publicPages.categories(),
      ]);
      return pageReply((nonce) =>
        renderBoard({ search, items, total, categories, origin: bases.shares, zone: zone(), nonce }),
      );
    },

    /** The newest version; another one leads to its own address. */
    page: async ({ req, params, bases }: Exchange): Promise<Reply> => {
      const key = params['publish_key'] ?? '';
      const page = await countMisses(req, () => publicPages.page(key));
      const query = queryOf(req.url);
      const chosen = query.get('version');
      if (chosen !== null) {
        const no = numberOf(chosen);
        const { items } = await publicPages.versions(key, { no, limit: 1, offset: 0 });
        if (items[0] === undefined) throw notFound('Version');
        return redirectTo(sharePathOf(items[0].shareCode));
      }
      if (page.latest === null) throw notFound('Version');
      return show({ page, version: page.latest }, { path: pagePathOf(key), origin: bases.shares, query });
    },

    share: async ({ req, params, bases }: Exchange): Promise<Reply> => {
      const code = params['share_code'] ?? '';
      const found = await countMisses(req, () => publicPages.share(code));
      return show(found, { path: sharePathOf(code), origin: bases.shares, query: queryOf(req.url) });
    },
  };
}

/** People's links come with parameters of other programs: what isn't understood is ignored. */
function queryOf(url = ''): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
}

const MAX_QUERY_CHARACTERS = 200;
const MAX_BOARD_PAGE = 1_000;

function searchOf(query: URLSearchParams): BoardSearch {
  const text = (name: string) => (query.get(name) ?? '').slice(0, MAX_QUERY_CHARACTERS).toWellFormed().trim();
  const category = text('category');
  return {
    q: text('q'),
    category: category === '' ? null : category,
    page: Math.max(1, Math.min(MAX_BOARD_PAGE, numberOf(query.get('page') ?? ''))),
  };
}

/** A whole number, or 0. */
function numberOf(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
