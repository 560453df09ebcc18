// Work that has to succeed, such as a row that others wait for.
import { type Clock, pause } from '../domain/clock.ts';

const RETRY_MS = 1_000;

/** Tries each second until the work succeeds. `failed` is given each failure, and throws to give up. */
export async function retryEachSecond<T>(
  clock: Clock,
  work: () => Promise<T>,
  failed: (error: unknown) => void,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      failed(error);
      await pause(clock, RETRY_MS);
    }
  }
}
