// Looks of the services of which an installation needs one: what another node has told, and this one has not heard, is made up for.
import type { Clock } from '../../domain/clock.ts';
import type { UnrecordedOccasion, Wakers, WokenService } from '../../events/wakes.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';

/** Somebody waits for what these do. */
const SOON = { planner: 'webhook changed', sender: 'webhook changed', scheduler: 'task rescheduled' } as const;
/** These give back what nobody uses. */
const LATER = { upkeep: 'webhook disabled', pageSweeper: 'share changed', sweeper: 'text discarded' } as const;
type Looking = Partial<Record<WokenService, UnrecordedOccasion>>;

const LOOK_MS = 5_000;
/** So many looks of those that are looked for soon to one of the others. */
const SOON_TO_LATER = 12;

export interface LooksParts {
  readonly wakers: Wakers;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the service; it is for nodes that have others beside them. Events need no looks: they are read from the journal. */
export function makeLooks({ wakers, clock, log }: LooksParts): Service {
  let looks = 0;
  const wake = (services: Looking) => {
    for (const [service, occasion] of Object.entries(services) as [WokenService, UnrecordedOccasion][])
      wakers[service](0, occasion);
  };

  async function work(): Promise<number> {
    wake(SOON);
    if (looks % SOON_TO_LATER === 0) wake(LATER);
    looks += 1;
    return LOOK_MS;
  }

  return makeService({ work, failure: 'what other nodes may have left to do could not be looked for', clock, log });
}
