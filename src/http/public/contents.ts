// The handlers of published bytes: an entry, a file of its folder, a medium. Found by the manifest, never by a path (F4).
import { publishedPresentationOf } from '../../files/media-type.ts';
import type { OpenedShare } from '../../operations/publishing/public-pages.ts';
import type { contentQuery } from '../../wire/publishing/public-share.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import { httpDate } from '../files/conditions.ts';
import { sendFile } from '../files/send-file.ts';
import type { Exchange } from '../frame/exchange.ts';
import { assetInPath, codeInPath, noSuchFile } from './names.ts';
import type { PublicParts } from './pages.ts';

type ContentExchange = Exchange<Static<typeof contentQuery>>;

/** For scripts and fonts of pages, which run in an origin of their own. Caches ask each time whether the share still exists. */
const HEADERS = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-cache' };

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeContentHandlers({ operations, countMisses }: Pick<PublicParts, 'operations' | 'countMisses'>) {
  const { publicPages } = operations;

  async function send(exchange: ContentExchange, open: () => Promise<OpenedShare>): Promise<undefined> {
    const { name, file, version, blob } = await countMisses(exchange.req, open);
    const asked = exchange.query.download === '1' ? 'attachment' : 'inline';
    try {
      await sendFile(exchange, {
        name,
        presentation: publishedPresentationOf(name, asked),
        blob,
        etag: `"${file.sha256}"`,
        lastModified: httpDate(version.publishedAt),
        headers: HEADERS,
      });
    } finally {
      await blob.close();
    }
  }

  return {
    content: async (exchange: ContentExchange) => send(exchange, () => publicPages.openEntry(codeInPath(exchange))),
    asset: async (exchange: ContentExchange) =>
      send(exchange, () => publicPages.openAsset(codeInPath(exchange), assetInPath(exchange.req.url ?? ''))),
    /** Of images, audio and video alone (F9). */
    media: async (exchange: ContentExchange) =>
      send(exchange, async () => {
        const opened = await publicPages.openEntry(codeInPath(exchange));
        if (opened.version.shareType === 'media') return opened;
        await opened.blob.close();
        throw noSuchFile();
      }),
  };
}
