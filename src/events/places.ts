// Whose events are: ids of sessions and runs, looked up once for each run.
import type { EventPlace, JournalEvent } from '../domain/journal-event.ts';
import type { SessionEvents } from '../store/sessions/session-events.ts';

/** Whose an event is, as the journal has it. */
export type Placed = Pick<JournalEvent, 'sessionSeq' | 'runSeq'>;

export interface Places {
  /** Undefined until it was looked up. */
  known(event: Placed): EventPlace | undefined;
  /** Looks up whose some events are; then they are known at least until the next look-up. */
  lookUp(events: readonly Placed[]): Promise<void>;
}

/** Known at once at most; the oldest give way. */
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
        // Anew, so that it is none of the oldest.
        places.delete(keyOf(event));
        places.set(keyOf(event), place);
        if (places.size > MOST) places.delete(places.keys().next().value!);
      }
    },
  };
}
