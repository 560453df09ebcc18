// Checks the credentials of long requests again: a request ends when its key becomes invalid.
import type { Clock, Timer } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';

/** Twice within the minute in which a revoked credential must take effect. */
export const RECHECK_MS = 30_000;
/** Checks in one turn of the event loop. */
const AT_ONCE = 50;

/**
 * From now on, checks whether a request may continue, until the returned function is called. `admit` throws when it may not;
 * then `refused` is called, once.
 */
export type WatchCredential = (admit: () => Promise<unknown>, refused: (error: ErrandError) => void) => () => void;

interface Watched {
  readonly admit: () => Promise<unknown>;
  readonly refused: (error: ErrandError) => void;
  dueAt: number;
}

/** Makes the watch: one timer for all requests. */
export function makeCredentialWatch(clock: Clock): WatchCredential {
  /** In the order in which they are due. */
  const watched = new Set<Watched>();
  let timer: Timer | undefined;

  function arm(): void {
    const [next] = watched;
    if (next === undefined || timer !== undefined) return;
    timer = clock.after(Math.max(1, next.dueAt - clock.monotonic()), lookAll);
  }

  function lookAll(): void {
    timer = undefined;
    const now = clock.monotonic();
    let looks = 0;
    for (const one of watched) {
      if (one.dueAt > now || looks === AT_ONCE) break;
      looks += 1;
      watched.delete(one);
      one.dueAt = now + RECHECK_MS;
      watched.add(one);
      void look(one);
    }
    arm();
  }

  async function look(one: Watched): Promise<void> {
    try {
      await one.admit();
    } catch (error) {
      // A store that can't be read says nothing about the credential.
      const isRefusal = error instanceof ErrandError && ['unauthenticated', 'forbidden'].includes(error.reason);
      if (isRefusal && watched.delete(one)) one.refused(error);
    }
  }

  return (admit, refused) => {
    const one: Watched = { admit, refused, dueAt: clock.monotonic() + RECHECK_MS };
    watched.add(one);
    arm();
    return () => {
      watched.delete(one);
      if (watched.size > 0) return;
      timer?.cancel();
      timer = undefined;
    };
  };
}
