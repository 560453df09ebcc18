// What was written to a response and has not left yet: how a slow reader slows down who writes, and when it is disconnected.
import type { ServerResponse } from 'node:http';
import { KB } from '../../domain/byte-units.ts';
import type { Clock } from '../../domain/clock.ts';

/** Bytes that may wait for a slow reader before it is paused. */
const PAUSE_AT_BYTES = 256 * KB;
/** How long a reader may take for those bytes. */
const LONGEST_BACKLOG_MS = 30_000;

/** What to wait for before sending more to a reader; undefined when it is not behind. */
export function pauseOf(res: ServerResponse): Promise<void> | undefined {
  return res.writableLength > PAUSE_AT_BYTES ? untilEither(res, 'drain') : undefined;
}

/** The same for a reader who is disconnected when it takes too long. */
export async function paceOf(res: ServerResponse, clock: Clock): Promise<void> {
  const pause = pauseOf(res);
  if (pause !== undefined) await orDrop(res, clock, pause);
}

/** Resolves when everything has left or the reader has gone, at the latest when it is disconnected because it takes too long. */
export async function untilTaken(res: ServerResponse, clock: Clock): Promise<void> {
  if (res.writableLength > 0 && !res.destroyed) await orDrop(res, clock, untilEither(res, 'finish'));
}

async function orDrop(res: ServerResponse, clock: Clock, taken: Promise<void>): Promise<void> {
  const timer = clock.after(LONGEST_BACKLOG_MS, () => res.destroy());
  await taken;
  timer.cancel();
}

/** Resolves at an event, or when the reader has disconnected. */
function untilEither(res: ServerResponse, event: 'drain' | 'finish'): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      res.off(event, settle);
      res.off('close', settle);
      resolve();
    };
    res.on(event, settle);
    res.on('close', settle);
  });
}
