// The events whose deliveries wait for the files of a run, for as long as they do.
import type { Clock } from '../domain/clock.ts';
import type { HeldEvent } from '../store/webhooks/held-deliveries.ts';

/** Makes the list. What it has is lost with the process: the next one reads it from the rows. */
export function makeHeldEvents(clock: Pick<Clock, 'now'>) {
  const held = new Map<string, HeldEvent>();
  /** Sessions whose workspace was examined since. */
  const known = new Set<number>();

  return {
    add: (events: readonly HeldEvent[]): void => {
      for (const event of events) held.set(event.eventId, event);
    },

    /** A workspace was examined. Returns whether something waits for it, or `mayCome`. */
    know: (sessionSeq: number, mayCome: boolean): boolean => {
      const matters = mayCome || [...held.values()].some((event) => event.sessionSeq === sessionSeq);
      if (matters) known.add(sessionSeq);
      return matters;
    },

    /** Milliseconds until the time of the first is over; null when nothing is held. */
    firstOverMs: (): number | null => {
      if (held.size === 0) return null;
      return Math.max(0, Math.min(...[...held.values()].map(({ until }) => until)) - clock.now());
    },

    /** Those whose files are known by what was heard, or whose time is over; where not everything is heard of, all. They wait no longer. */
    take: (hasPeers: boolean): readonly HeldEvent[] => {
      const isRipe = ({ sessionSeq, until }: HeldEvent) => hasPeers || known.has(sessionSeq) || until <= clock.now();
      const taken = [...held.values()].filter(isRipe);
      for (const { eventId } of taken) held.delete(eventId);
      known.clear();
      return taken;
    },

    /** What was taken, and could not be let go. */
    giveBack: (events: readonly HeldEvent[]): void => {
      for (const event of events) {
        held.set(event.eventId, event);
        known.add(event.sessionSeq);
      }
    },
  };
}
