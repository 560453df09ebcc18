// A backup in a few fields, of its manifest.
import type { BackupWire } from '../wire/backups/backup.ts';
import type { Manifest } from '../wire/backups/manifest.ts';

/** What a restore writes. */
export function sumOf({ database, blobs, workspaces, configuration }: Manifest): { files: number; bytes: number } {
  const parts = [database, blobs, configuration, ...(workspaces === null ? [] : [workspaces])];
  return {
    files: parts.reduce((sum, { files }) => sum + files, 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

export function summaryOf(manifest: Manifest): BackupWire {
  const { id, created_at, errand_version, schema_version, missing_blobs, left_out, changing } = manifest;
  return {
    id,
    created_at,
    errand_version,
    schema_version,
    ...sumOf(manifest),
    added_bytes: manifest.added.bytes,
    workspaces: manifest.workspaces !== null,
    master_key: manifest.master_key !== null,
    missing_blobs,
    left_out,
    changing,
  };
}
