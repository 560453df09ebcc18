// What a run does now, or has come to, in a few words.
import { stopwatch } from '../../terminal/durations.ts';
import { relativeTime } from '../../terminal/moments.ts';
import type { Role } from '../text/line.ts';
import { THINKS, WRITES } from './activity.ts';
import type { Row } from './office.ts';

/** `after` stands behind the text even where that is cut. `isTail`: what matters of the text is its end. */
export interface Doing {
  readonly text: string;
  readonly after: string;
  readonly role: Role;
  readonly isTail: boolean;
}

/** From here on, how long something takes is told. */
const LONG_MS = 10_000;
const QUIET: ReadonlySet<string | null> = new Set([THINKS, WRITES]);

/** `at` is the daemon's clock. */
export function doingOf(row: Row, at: number): Doing {
  if (row.status === 'failed') return doing(row.error ?? 'failed', 'failed');
  if (row.modelWait !== null) {
    const { model, why, since } = row.modelWait;
    return doing(`${model} ${why}`, 'waiting', `, ${stopwatch(at - since)}`);
  }
  if (row.isWaiting) return doing(row.now ?? 'waits', 'waiting', lasting(row, at));
  if (row.status === 'running' && row.words !== null) return { ...doing(row.words, 'plain'), isTail: true };
  if (row.status === 'running') return doing(row.now ?? '', QUIET.has(row.now) ? 'dim' : 'plain', lasting(row, at));
  if (row.status === 'pending') return doing('waits for a slot', 'dim');
  return doing(row.finishedAt === null ? '' : relativeTime(row.finishedAt, at), 'dim');
}

const doing = (text: string, role: Role, after = ''): Doing => ({ text, after, role, isTail: false });

function lasting({ updatedAt }: Row, at: number): string {
  return at - updatedAt < LONG_MS ? '' : `, ${stopwatch(at - updatedAt)}`;
}
