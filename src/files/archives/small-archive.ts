// Which archives are packed in memory: for small ones that costs less than streams.
import type { SnapshotFile } from '../snapshots/snapshot.ts';

/** An archive up to this size is small, and so are these files with their heads. */
export const SMALL_ARCHIVE_BYTES = 262_144;
const HEAD_BYTES = 512;

/** Whether files make a small archive. */
export function isSmall(files: readonly SnapshotFile[]): boolean {
  return files.reduce((sum, { size }) => sum + size + HEAD_BYTES, 0) <= SMALL_ARCHIVE_BYTES;
}
