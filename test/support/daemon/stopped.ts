// A stop whose executor has ended afterwards.
import { expect } from 'vitest';
import { STOP_WINDOW_MS } from '../../../src/domain/sessions/stop.ts';
import { waitFor } from '../time/wait-for.ts';

/** What a stop says, as far as it matters here. */
export interface StopReply {
  readonly stop_state: string;
  readonly executor_cancelled: boolean;
}

/**
 * Answers what a stop says once the executor has ended. The reply waits five seconds for that: on a machine that stands still an
 * executor may need longer. Then, and only then, it is waited for with more stops.
 */
export async function stopped<Reply extends StopReply>(stop: () => Promise<Reply>): Promise<Reply> {
  const begunAt = performance.now();
  const reply = await stop();
  if (reply.stop_state !== 'stopping') return reply;
  expect(performance.now() - begunAt).toBeGreaterThan(STOP_WINDOW_MS - 10);
  expect(reply.executor_cancelled).toBe(false);
  await waitFor(async () => (await stop()).stop_state !== 'stopping');
  return { ...reply, stop_state: 'stopped', executor_cancelled: true };
}
