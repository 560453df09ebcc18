// What tests verify and restore.
import { join } from 'node:path';
import type { RestoreRequest } from '../../../src/backups/restore.ts';
import { openSource } from '../../../src/backups/source.ts';
import { verify } from '../../../src/backups/verify.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { SEAL_KEY } from './installation.ts';

const SIGNAL = new AbortController().signal;

/** To restore the newest backup of a repository or an archive to `data` and `config` in a directory. */
export function requestOf(from: string, target: string, over: Partial<RestoreRequest> = {}): RestoreRequest {
  const source = openSource(from);
  return {
    source,
    manifest: source.manifest(source.ids.at(-1)!),
    dataDir: join(target, 'data'),
    configDir: join(target, 'config'),
    owner: null,
    service: null,
    masterKey: null,
    paused: false,
    rowsTo: null,
    onProgress: () => undefined,
    onRows: () => undefined,
    signal: SIGNAL,
    ...over,
  };
}

/** Verifies a backup with the key of the installation, or another one. */
export const verdictOf = (
  from: string,
  id: string,
  sealKey: Uint8Array | null = SEAL_KEY,
  scratch = temporaryDirectory(),
) =>
  verify({
    source: openSource(from),
    id,
    scratch,
    sealKey,
    onProgress: () => undefined,
    signal: SIGNAL,
  });
