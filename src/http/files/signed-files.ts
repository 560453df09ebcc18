// Files by their signed addresses (E7).
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../domain/clock.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Exchange } from '../frame/exchange.ts';
import { sendFile } from './send-file.ts';

/** The handler of signed addresses. */
export function makeFileHandler(operations: Pick<Operations, 'openFile'>, clock: Pick<Clock, 'now'>) {
  return async (exchange: Exchange): Promise<undefined> => {
    const { grant, presentation, blob } = await operations.openFile(pathOf(exchange.req));
    try {
      const seconds = Math.max(0, Math.floor((grant.expiresAt - clock.now()) / 1_000));
      await sendFile(exchange, {
        name: grant.name,
        presentation,
        blob,
        etag: `"${grant.key}"`,
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
