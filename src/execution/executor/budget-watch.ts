// Where several nodes share the budgets: learns each second whether there are any, so that workers ask before their calls.
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';

const LOOK_MS = 1_000;

export interface BudgetWatchParts {
  readonly store: Pick<Store, 'budgets'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the service. Until it has looked, there may be some. */
export function makeBudgetWatch({ store: { budgets }, clock, log }: BudgetWatchParts): Service {
  async function work(): Promise<number> {
    await budgets.lookForBudgets();
    return LOOK_MS;
  }

  return makeService({ work, failure: 'the budgets could not be looked at', clock, log });
}
