// The clock of the server beside this machine's.
import type { Clock } from '../../../../domain/clock.ts';
import type { Connection } from '../connections/connection.ts';
import { SERVER_NOW } from '../sql/dialect.ts';

/** So much apart, they aren't set by the same time. */
const SLACK_MS = 5_000;
const CLOCK = `SELECT ${SERVER_NOW}`;

/** How many milliseconds the server's is ahead; negative when it is behind. The way of the answer is left out. */
export async function clockAheadMs(connection: Connection, { now }: Pick<Clock, 'now'>): Promise<number> {
  const askedAt = now();
  const { rows } = await connection.say(CLOCK);
  return Math.round(Number(rows[0]![0]) - (askedAt + now()) / 2);
}

/** Completes "the clock of …"; null where both are about the same. */
export function wordsOfClock(aheadMs: number): string | null {
  if (Math.abs(aheadMs) < SLACK_MS) return null;
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  return `is ${seconds} s ${side} this machine's: times of the server's log and views differ from those here`;
}
