// Counts the files that no row names.
import { existsSync } from 'node:fs';
import { findOrphans, type Orphan } from '../files/orphans.ts';
import type { NamedBlobs } from '../store/inspection/named-blobs.ts';
import type { ScanTask, OrphanCount } from './scan.ts';

/** More than a daemon ever holds without a row, so that those can be told from the others. */
const MAX_EXAMPLES = 100;
/** Names between two counts of how many there were. */
const SLICE = 50;

/** Looks at some `limit` names. */
export async function countOrphans(
  { blobs, workspaces, orphansBefore: before }: Pick<ScanTask, 'blobs' | 'orphansBefore' | 'workspaces'>,
  rows: Pick<NamedBlobs, 'hasFiles' | 'isInUse' | 'listUses'>,
  limit: number,
): Promise<OrphanCount> {
  const counted = { blobs: 0, bytes: 0, workspaces: 0, examples: [] as Orphan[], isWhole: true };
  if (![blobs, workspaces].every((directory) => existsSync(directory))) return counted;
  let looked = 0;
  for await (const orphan of findOrphans({
    blobs,
    workspaces,
    before,
    isBlobInUse: rows.isInUse,
    listUses: rows.listUses,
    hasFiles: rows.hasFiles,
  })) {
    if (orphan === null) {
      looked += SLICE;
      if (looked >= limit) return { ...counted, isWhole: false };
      continue;
    }
    counted[orphan.kind === 'workspace' ? 'workspaces' : 'blobs'] += 1;
    counted.bytes += orphan.bytes;
    if (counted.examples.length < MAX_EXAMPLES) counted.examples.push(orphan);
  }
  return counted;
}
