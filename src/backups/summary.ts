// A backup in a few fields, of its manifest.
import type { BackupWire } from '../wire/backups/backup.ts';
import type { Manifest } from '../wire/backups/manifest.ts';

const partsOf = ({ database, blobs, workspaces, configuration }: Manifest) => [
  database,
  blobs,
  ...treesOf({ workspaces, configuration }),
];

const treesOf = ({ workspaces, configuration }: Pick<Manifest, 'configuration' | 'workspaces'>) =>
  workspaces === null ? [configuration] : [workspaces, configuration];

/** What a restore writes. */
export function sumOf(manifest: Manifest): { files: number; bytes: number } {
  const parts = partsOf(manifest);
  return {
    files: parts.reduce((sum, { files }) => sum + files, 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** How much space a restore needs for contents. */
export function spaceOf(manifest: Manifest): number {
  return treesOf(manifest).reduce((space, { holes = 0 }) => space - holes, sumOf(manifest).bytes);
}

/** How many entries its list has: files, links and folders. */
export function entriesOf(manifest: Manifest): number {
  const others = treesOf(manifest).reduce((sum, { links = 0, folders = 0 }) => sum + links + folders, 0);
  return sumOf(manifest).files + others;
}

export function summaryOf(manifest: Manifest): BackupWire {
  const { id, created_at, errand_version, schema_version, missing_blobs, left_out, changing } = manifest;
  const { left_out_files = [] } = manifest;
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
    left_out_files,
    changing,
  };
}
