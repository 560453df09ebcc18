// What a run does now, or what became of it, in the words that every view has.
import { stopwatch } from '../../terminal/durations.ts';
import { relativeTime } from '../../terminal/moments.ts';
import type { Role } from '../text/line.ts';
import { THINKS, WRITES } from './activity.ts';
import type { Row } from './office.ts';

/** `after` stands behind the text, where there is room for both, or even where the text is cut. `isTail`: what matters of the text is its end. */
export interface Doing {
  readonly text: string;
  readonly after: string;
  readonly staysBehind: boolean;
  readonly role: Role;
  readonly isTail: boolean;
}

/** From here on, how long something takes is told. */
const LONG_MS = 10_000;
const QUIET: ReadonlySet<string | null> = new Set([THINKS, WRITES]);

/** `at` is the daemon's clock. The text is foreign. */
export function doingOf(row: Row, at: number): Doing {
  if (row.status === 'failed') return doing(row.error ?? 'failed', 'failed');
  if (row.modelWait !== null) {
    const { model, why, since } = row.modelWait;
    return { ...doing(`${model} ${why}`, 'waiting', `, ${stopwatch(at - since)}`), staysBehind: true };
  }
  if (row.isWaiting) return doing(row.now ?? 'waits', 'waiting', lasting(row, at));
  if (row.status === 'running' && row.words !== null) return { ...doing(row.words, 'plain'), isTail: true };
  if (row.status === 'running') return doing(row.now ?? '', QUIET.has(row.now) ? 'dim' : 'plain', lasting(row, at));
  if (row.status === 'pending') return doing(row.now ?? 'waits for a slot', 'dim');
  return doing(row.finishedAt === null ? '' : relativeTime(row.finishedAt, at), 'dim');
}

const doing = (text: string, role: Role, after = ''): Doing => ({
  text,
  after,
  staysBehind: false,
  role,
  isTail: false,
});

function lasting({ updatedAt }: Row, at: number): string {
  return at - updatedAt < LONG_MS ? '' : `, ${stopwatch(at - updatedAt)}`;
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
