// The events whose deliveries wait for the files of a run, for as long as they do.
import type { Clock } from '../domain/clock.ts';
import type { HeldEvent } from '../store/webhooks/held-deliveries.ts';

/** Makes the list. What it has is lost with the process: the next one reads it from the rows. */
export function makeHeldEvents(clock: Pick<Clock, 'now'>) {
  /** By session, those that were held first before the others. */
  const held = new Map<number, HeldEvent[]>();
  /** Sessions whose workspace was examined since. */
  const known = new Set<number>();

  function forgetPast(): void {
    for (const [sessionSeq, events] of held) {
      if (events.at(-1)!.until > clock.now()) return;
      held.delete(sessionSeq);
    }
  }

  return {
    add: (events: readonly HeldEvent[]): void => {
      forgetPast();
      for (const event of events) {
        const before = held.get(event.sessionSeq) ?? [];
        held.delete(event.sessionSeq);
        held.set(event.sessionSeq, [...before, event]);
      }
    },

    /** A workspace was examined. Returns whether something waits for it, or `mayCome`. */
    know: (sessionSeq: number, mayCome: boolean): boolean => {
      const matters = mayCome || held.has(sessionSeq);
      if (matters) known.add(sessionSeq);
      return matters;
    },

    size: () => held.size,

    /** All of them; they wait no longer. */
    takeAll: (): readonly HeldEvent[] => {
      const taken = [...held.values()].flat();
      held.clear();
      known.clear();
      return taken;
    },

    /** Those that wait for what is known now; they wait no longer. */
    takeKnown: (): readonly HeldEvent[] => {
      const taken = [...known].flatMap((sessionSeq) => held.get(sessionSeq) ?? []);
      for (const sessionSeq of known) held.delete(sessionSeq);
      known.clear();
      return taken;
    },
  };
}
