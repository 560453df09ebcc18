// The client's verbs on backups.
import type { IncomingMessage } from 'node:http';
import { backups, type NewBackupArchiveWire } from '../wire/backups/backup.ts';
import type { CallManagement } from './references.ts';
import { isRefusal, refusalOf } from './transport/exchange.ts';
import { type Address, send } from './transport/transport.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

export interface Backups extends Verbs<typeof backups> {
  /** An archive, whose bytes are still to be read. */
  archive(input: NewBackupArchiveWire): Promise<IncomingMessage>;
}

/** The connection of a client, for what is not read whole. */
interface Connection {
  readonly address: Address;
  readonly signal: AbortSignal | undefined;
}

export function makeBackups(call: CallManagement, complete: Complete, { address, signal }: Connection): Backups {
  return {
    ...verbsOf(backups, call, complete),
    archive: async (input) => {
      const path = '/api/v1/backups/archive';
      const reply = await send(address, { method: 'POST', path, body: input, ...(signal && { signal }) });
      if (isRefusal(reply)) throw await refusalOf(reply);
      return reply;
    },
  };
}
