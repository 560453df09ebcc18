// Waits for a daemon to be ready.
import { setTimeout as pause } from 'node:timers/promises';
import { isClientFailure } from '../../client/transport/client-error.ts';
import type { StatusWire } from '../../wire/status.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Context } from './context.ts';
import { CommandError } from './exit-codes.ts';
import { formatDuration } from '../../terminal/durations.ts';

const POLL_MS = 200;
/** The longest timer, which is 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A node that was told to drain, and is well otherwise, becomes ready when it is told so, not with time. */
const isDrained = ({ node, nodes, parts }: StatusWire): boolean =>
  nodes.some(({ id, state }) => id === node.id && (state === 'draining' || state === 'drained')) &&
  parts.every(({ name, state }) => state !== 'failed' || name === 'node');

/**
 * The status of the daemon when it is ready, or drains. Throws `timedOut` after a number of seconds, and at once any error that waiting
 * does not fix, such as a socket that the caller may not open.
 */
export async function untilReady({ client, signal }: Context, seconds: number): Promise<StatusWire> {
  let why = 'it does not answer';
  const poll = async (): Promise<StatusWire> => {
    for (;;) {
      try {
        const status = await client().status();
        if (status.ready || isDrained(status)) return status;
        const failed = status.parts.filter(({ state }) => state === 'failed');
        why = failed.map(({ name, detail }) => (detail === null ? name : `${name}: ${detail}`)).join(', ');
      } catch (error) {
        if (!isClientFailure(error, 'unreachable', 'lost', 'timeout')) throw error;
        why = messageOf(error);
      }
      await pause(POLL_MS, undefined, { signal });
    }
  };
  const over = new AbortController();
  const limit = pause(Math.min(seconds * 1000, MAX_TIMER_MS), undefined, { signal: over.signal }).then(() => {
    throw new CommandError('timedOut', `The daemon was not ready within ${formatDuration(seconds)}: ${why}`);
  });
  // Nobody awaits whichever comes second.
  limit.catch(() => undefined);
  try {
    return await Promise.race([poll(), limit]);
  } finally {
    over.abort();
  }
}
