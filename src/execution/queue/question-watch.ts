// Ends the wait for answers that did not come in time. Without a pending question there is no timer.
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';

export interface QuestionWatchParts {
  readonly store: Pick<Store, 'userInputs'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Expiry is stored as wall time: a jump of that clock is noticed at the latest after this. */
const LOOK_MS = 60_000;

/** Makes the service. To be woken when a question was asked. */
export function makeQuestionWatch({ store: { userInputs }, clock, log }: QuestionWatchParts): Service {
  async function work(): Promise<number | null> {
    const nextAt = await userInputs.nextExpiryAt();
    if (nextAt === undefined) return null;
    const leftMs = nextAt - clock.now();
    if (leftMs > 0) return Math.min(leftMs, LOOK_MS);
    const count = await userInputs.expireDue();
    if (count > 0) log.info({ questions: count }, 'questions were not answered in time');
    // Of a long list others are due: writers get their turn in between.
    return 1;
  }

  return makeService({ work, failure: 'questions could not be expired', clock, log });
}
