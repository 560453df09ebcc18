// The handler of backups that are sent as archives.
import type { ServerResponse } from 'node:http';
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { newBackupArchive } from '../../wire/backups/backup.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { pauseOf } from '../replies/backlog.ts';
import { limitStall, writeHead } from '../replies/head.ts';
import { untilGone } from '../frame/until-gone.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeBackupHandlers(operations: Operations) {
  return {
    /** What fails before the first byte is refused; later, the archive breaks off. */
    archive: async (exchange: Exchange<unknown, Static<typeof newBackupArchive>>, caller: Administrator) => {
      const { res, body } = exchange;
      const take = async (bytes: Uint8Array) => write(res, bytes);
      try {
        await operations.sendBackup(caller, body, take, untilGone(exchange));
        res.end();
      } catch (error) {
        if (!res.headersSent) throw error;
        res.destroy();
      }
      return undefined;
    },
  };
}

/** Resolves when the client wants more. */
async function write(res: ServerResponse, bytes: Uint8Array): Promise<void> {
  if (res.destroyed) throw new Error('The client has disconnected.');
  if (!res.headersSent) {
    writeHead(res, 200, { 'Content-Type': 'application/x-tar', 'Cache-Control': 'no-store' });
    limitStall(res);
  }
  res.write(bytes);
  await pauseOf(res);
  if (res.destroyed) throw new Error('The client has disconnected.');
}
