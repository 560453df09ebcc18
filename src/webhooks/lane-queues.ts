// The order of webhooks: those that may send now, by their standing, and those that wait until something is due.
import type { Lane } from '../store/webhooks/deliveries.ts';
import { LIMITS, type Slots } from './slots.ts';
import { makeOwnerRotation } from './owner-rotation.ts';

/** A webhook in a queue. */
export interface Queued {
  readonly owner: number;
  readonly standing: Lane['standing'];
  readonly host: string;
  readonly dueAt: number | null;
  readonly inFlight: ReadonlySet<number>;
}

export interface LaneQueues<Entry extends Queued> {
  /** Puts a webhook where it belongs now, behind the others of its owner; nowhere if nothing is due or nothing more may start. */
  place(entry: Entry, now: number): void;
  /** Takes it out. */
  unplace(entry: Entry): void;
  /** The next that may send, and how many deliveries it may start. Owners take turns. */
  next(now: number): { readonly entry: Entry; readonly room: number } | null;
  /** A moment after now, no later than any at which something is due; null for none. */
  nextDueAt(): number | null;
}

/** Those that are not proven, in the order of their turns at first. */
const UNPROVEN = ['untried', 'failing'] as const;

/** Makes queues without a webhook. */
export function makeLaneQueues<Entry extends Queued>(slots: Slots): LaneQueues<Entry> {
  const ready = {
    proven: makeOwnerRotation<Entry>(),
    untried: makeOwnerRotation<Entry>(),
    failing: makeOwnerRotation<Entry>(),
  } as const;
  const waiting = new Set<Entry>();
  /** Take turns, so that neither those that are never tried nor those that fail keep the other waiting. */
  let unproven: readonly (typeof UNPROVEN)[number][] = UNPROVEN;
  /** No later than any that waits. */
  let earliest = Infinity;

  function place(entry: Entry, now: number): void {
    unplace(entry);
    const { dueAt, inFlight, standing } = entry;
    if (dueAt === null) return;
    if (dueAt > now) {
      waiting.add(entry);
      earliest = Math.min(earliest, dueAt);
    } else if (inFlight.size < mostOf(standing)) ready[standing].add(entry);
  }

  function unplace(entry: Entry): void {
    waiting.delete(entry);
    // Its standing may have changed since.
    for (const queue of Object.values(ready)) queue.remove(entry);
  }

  function promote(now: number): void {
    if (earliest > now) return;
    earliest = Infinity;
    for (const entry of waiting) {
      if (entry.dueAt! <= now) place(entry, now);
      else earliest = Math.min(earliest, entry.dueAt!);
    }
  }

  function nextOf(standing: Lane['standing']): { readonly entry: Entry; readonly room: number } | null {
    return ready[standing].next({
      ofOwner: (owner) => slots.leftOfOwner(owner, standing),
      of: (entry) => Math.min(mostOf(standing) - entry.inFlight.size, slots.left(entry)),
    });
  }

  return {
    place,
    unplace,
    next: (now) => {
      promote(now);
      if (slots.free() === 0) return null;
      const proven = nextOf('proven');
      if (proven !== null) return proven;
      for (const standing of unproven) {
        const found = nextOf(standing);
        if (found === null) continue;
        unproven = [...UNPROVEN.filter((other) => other !== standing), standing];
        return found;
      }
      return null;
    },
    nextDueAt: () => (waiting.size === 0 ? null : earliest),
  };
}

function mostOf(standing: Lane['standing']): number {
  return standing === 'proven' ? LIMITS.perWebhook : LIMITS.perUnprovenWebhook;
}
