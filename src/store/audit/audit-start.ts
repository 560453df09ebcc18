// Where the audit log begins, once its oldest entries were removed by age.
import type { Seal } from './record-entry.ts';

/** The last entry that was removed, under the daemon's seal. */
export interface StartRow {
  removedId: number;
  removedHash: string;
  /** Epoch ms. */
  removedAt: number;
  seal: string;
}

export const START = 'SELECT removed_id, removed_hash, removed_at, seal FROM audit_start';

/** The seal of a start. It can't be taken for that of an end, which is sealed under the same key. */
export function sealOfStart({ removedId, removedHash, removedAt }: Omit<StartRow, 'seal'>, seal: Seal): string {
  return seal(JSON.stringify(['start', removedId, removedHash, removedAt]));
}

/** Whether the start is as the daemon wrote it. */
export function isStartIntact(start: StartRow | undefined, seal: Seal): boolean {
  return start === undefined || sealOfStart(start, seal) === start.seal;
}
