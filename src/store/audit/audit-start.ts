// Where the audit log begins, once its oldest entries were removed by age.
import type { Seal } from './record-entry.ts';

/** The last entry that was removed, under the daemon's seal. */
export interface StartRow {
  removed_id: number;
  removed_hash: string;
  /** Epoch ms. */
  removed_at: number;
  seal: string;
}

export const START = 'SELECT removed_id, removed_hash, removed_at, seal FROM audit_start';

/** The seal of a start. It can't be taken for that of an end, which is sealed under the same key. */
export function sealOfStart({ removed_id, removed_hash, removed_at }: Omit<StartRow, 'seal'>, seal: Seal): string {
  return seal(JSON.stringify(['start', removed_id, removed_hash, removed_at]));
}

/** Whether the start is as the daemon wrote it. */
export function isStartIntact(start: StartRow | undefined, seal: Seal): boolean {
  return start === undefined || sealOfStart(start, seal) === start.seal;
}
