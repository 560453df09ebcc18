// Files by their signed addresses (E7).
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../domain/clock.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Exchange } from '../frame/exchange.ts';
import { sendFile } from './send-file.ts';
import { sendGrowing } from './send-growing.ts';

/** The handler of signed addresses. */
export function makeFileHandler(operations: Pick<Operations, 'openFile'>, clock: Pick<Clock, 'now'>) {
  return async (exchange: Exchange): Promise<undefined> => {
    const opened = await operations.openFile(pathOf(exchange.req));
    if ('download' in opened) {
      await sendGrowing(exchange, opened, { 'Cache-Control': 'private, no-store' });
      return undefined;
    }
    const { grant, presentation, key, blob } = opened;
    try {
      const seconds = Math.max(0, Math.floor((grant.expiresAt - clock.now()) / 1_000));
      await sendFile(exchange, {
        name: grant.name,
        presentation,
        blob,
        etag: `"${key}"`,
        lastModified: null,
        headers: { 'Cache-Control': `private, max-age=${seconds}, immutable` },
      });
      return undefined;
    } finally {
      await blob.close();
    }
  };
}

/** The path as it was sent: several spellings decode to what the router gives. */
function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
