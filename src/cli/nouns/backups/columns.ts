// What is shown of backups.
import type { BackupWire, PrunedBackupsWire } from '../../../wire/backups/backup.ts';
import { readableSize } from '../../../terminal/sizes.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

export const BACKUPS: readonly Column<BackupWire>[] = [
  { ...field('id', 9), isWhole: true },
  field('created_at', 7),
  field('files', 4),
  column('size', ({ bytes }) => bytes, 6),
  column('added', ({ added_bytes: bytes }) => readableSize(bytes), 5),
  field('workspaces', 3),
  field('master_key', 3),
  field('errand_version', 2),
  field('missing_blobs', 1),
  field('left_out', 1),
  field('changing', 1),
];

export const PRUNED: readonly Column<PrunedBackupsWire>[] = [
  column('removed', ({ removed }) => removed.length),
  field('kept'),
  field('objects'),
  column('size', ({ bytes }) => bytes),
];
