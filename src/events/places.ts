// The places of events: ids of sessions and runs, looked up once for each run.
import type { EventPlace, JournalEvent } from '../domain/journal-event.ts';
import type { SessionEvents } from '../store/journal/session-events.ts';

/** The place of an event, as the journal has it. */
export type Placed = Pick<JournalEvent, 'sessionSeq' | 'runSeq'>;

export interface Places {
  /** Undefined until it has been looked up. */
  known(event: Placed): EventPlace | undefined;
  /** Looks up the places of events; they are known at least until the next look-up. */
  lookUp(events: readonly Placed[]): Promise<void>;
}

/** Maximum number of places known at once; the oldest are dropped. */
const MOST = 10_000;

export function makePlaces(events: Pick<SessionEvents, 'placeOf'>): Places {
  const places = new Map<string, EventPlace>();
  const keyOf = ({ sessionSeq, runSeq }: Placed) => `${sessionSeq}/${runSeq ?? ''}`;
  const known = (event: Placed) => places.get(keyOf(event));
  return {
    known,
    lookUp: async (some) => {
      for (const event of some) {
        const place = known(event) ?? (await events.placeOf(event.sessionSeq, event.runSeq));
        // Set again, so that it isn't among the oldest.
        places.delete(keyOf(event));
        places.set(keyOf(event), place);
        if (places.size > MOST) places.delete(places.keys().next().value!);
      }
    },
  };
}
