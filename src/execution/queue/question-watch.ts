// Ends the wait for answers that did not come in time. Sets no timer while no question is pending.
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';

export interface QuestionWatchParts {
  readonly store: Pick<Store, 'userInputs'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Expiry is stored as wall time: a jump of that clock is noticed within this time. */
const LOOK_MS = 60_000;

/** Makes the service. Wake it when a question was asked. */
export function makeQuestionWatch({ store: { userInputs }, clock, log }: QuestionWatchParts): Service {
  async function work(): Promise<number | null> {
    const nextAt = await userInputs.nextExpiryAt();
    if (nextAt === undefined) return null;
    const leftMs = nextAt - clock.now();
    if (leftMs > 0) return Math.min(leftMs, LOOK_MS);
    const count = await userInputs.expireDue();
    if (count > 0) log.info({ questions: count }, 'questions were not answered in time');
    // A long list has more that are due: let other writers run in between.
    return 1;
  }

  return makeService({ work, failure: 'questions could not be expired', clock, log });
}
