// What a run does now, or what became of it, in the words that every view has.
import { stopwatch } from '../../terminal/durations.ts';
import { relativeTime } from '../../terminal/moments.ts';
import type { Role } from '../text/line.ts';
import type { Row } from './office.ts';

export interface Doing {
  readonly text: string;
  readonly role: Role;
}

const said = (text: string, role: Role): Doing => ({ text, role });

/** `at` is the daemon's clock. The text is foreign. */
export function doingOf(row: Row, at: number): Doing {
  if (row.status === 'failed') return said(row.error ?? 'failed', 'failed');
  if (row.modelWait !== null) {
    const { model, since } = row.modelWait;
    return said(`waits ${stopwatch(at - since)} for ${model}`, 'waiting');
  }
  if (row.isWaiting) return said(row.now ?? 'waits', 'waiting');
  if (row.status === 'running') return said(row.now ?? '', row.now === 'thinks' ? 'dim' : 'plain');
  if (row.status === 'pending') return said(row.now ?? 'waits for a slot', 'dim');
  return said(row.finishedAt === null ? '' : relativeTime(row.finishedAt, at), 'dim');
}

/** How long a run has taken, or takes; empty for one that never began. */
export function timeOf({ startedAt, finishedAt, updatedAt }: Row, at: number): string {
  return startedAt === null && finishedAt !== null ? '' : stopwatch((finishedAt ?? at) - (startedAt ?? updatedAt));
}

/** How long a change shows, and how long a new run does. */
const CHANGED_MS = 1500;
const NEW_MS = 5000;

/** Whether a run has just appeared. `now` is this machine's clock, here and below. */
export const isNew = ({ firstSeenAt }: Row, now: number): boolean => now - firstSeenAt < NEW_MS;

/** Whether something of a run has just changed. */
export const hasChanged = ({ changedAt }: Row, now: number): boolean => now - changedAt < CHANGED_MS;
