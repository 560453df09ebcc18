// The client's verbs on backups.
import type { IncomingMessage } from 'node:http';
import type {
  BackupJobWire,
  BackupPruningWire,
  NewBackupArchiveWire,
  NewBackupWire,
  PrunedBackupsWire,
} from '../wire/backups/backup.ts';
import { callManagement, isRefusal, refusalOf } from './transport/exchange.ts';
import { type Address, type Call, send } from './transport/transport.ts';

/** Removals in a large place take their time. */
const PRUNE_TIMEOUT_MS = 3_600_000;

export interface Backups {
  create(input: NewBackupWire): Promise<BackupJobWire>;
  /** The one in progress, otherwise the last. */
  latest(): Promise<BackupJobWire>;
  /** Ends it if it is in progress; nothing of it counts as a backup. */
  cancel(id: string): Promise<BackupJobWire>;
  /** An archive, whose bytes are still to be read. */
  archive(input: NewBackupArchiveWire): Promise<IncomingMessage>;
  prune(input: BackupPruningWire): Promise<PrunedBackupsWire>;
}

export function makeBackups(address: Address, signal?: AbortSignal): Backups {
  const call = <T>(method: Call['method'], path: string, more: Pick<Call, 'body' | 'timeoutMs'> = {}) =>
    callManagement<T>(address, { method, path: `/api/v1/backups${path}`, ...more, ...(signal && { signal }) });
  return {
    create: (input) => call('POST', '', { body: input }),
    latest: () => call('GET', '/latest'),
    cancel: (id) => call('POST', `/${encodeURIComponent(id)}/cancel`),
    archive: async (input) => {
      const path = '/api/v1/backups/archive';
      const reply = await send(address, { method: 'POST', path, body: input, ...(signal && { signal }) });
      if (isRefusal(reply)) throw await refusalOf(reply);
      return reply;
    },
    prune: (input) => call('POST', '/prune', { body: input, timeoutMs: PRUNE_TIMEOUT_MS }),
  };
}
