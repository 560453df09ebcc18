// Wakes: which background services a committed event concerns.
import type { EventType, JournalEvent } from '../domain/journal-event.ts';
import type { Bus } from './bus.ts';

/** The services that events wake. Those that only sleep until something is due are not here. */
export type WokenService = 'queue' | 'queueWait' | 'questionWatch' | 'collector' | 'sweeper' | 'planner' | 'publisher';

/** The reason for a wake: an event, or a change of rows that has none. */
export type Occasion = EventType | 'stop confirmed';

/**
 * The table. Three occasions are not in it: an accepted turn that somebody waits for, which the queue admits itself; a free slot
 * and a released hold on blobs, which change no row. The code that confirms a stop calls `stopConfirmed`.
 */
const WAKES: { readonly [O in Occasion]?: readonly WokenService[] } = {
  'run.queued': ['queue', 'queueWait'],
  'run.done': ['collector', 'planner'],
  // Streamed text is discarded, and another run of the session may be claimed.
  'run.failed': ['queue', 'collector', 'sweeper', 'planner'],
  'run.resumed': ['queue', 'sweeper'],
  'run.stopped': ['queue', 'collector', 'planner'],
  'user_input.requested': ['questionWatch', 'planner'],
  'user_input.answered': ['queue', 'planner'],
  'user_input.expired': ['queue'],
  'insight.status_changed': ['planner'],
  'workspace_export.completed': ['planner'],
  // A firing was inserted, a step follows another, or a firing is no longer held back.
  'scheduled_task.run_status_changed': ['queue', 'planner', 'publisher'],
  'publish_page.published': ['planner'],
  'publish_page.failed': ['planner'],
  'session.deleted': ['sweeper'],
  'stop confirmed': ['queue', 'collector', 'sweeper'],
};

/** Services that only some events of a type concern. */
const CONCERNED: { readonly [S in WokenService]?: (event: JournalEvent) => boolean } = {
  queue: (event) => event.type !== 'run.queued' || isBackground(event),
  queueWait: isBackground,
};

function isBackground(event: JournalEvent): boolean {
  return event.type === 'run.queued' && event.payload.scheduleMode === 'background';
}

/** How each service is woken. */
export type Wakers = { readonly [S in WokenService]: (sessionSeq: number, occasion: Occasion) => void };

export interface Wakes {
  /** Wakes services by the events of each commit from now on. */
  follow(bus: Bus): void;
  /** The executor of a stopped session has ended, and that is committed. */
  stopConfirmed(sessionSeq: number): void;
}

export function makeWakes(wakers: Wakers): Wakes {
  const wake = (event: JournalEvent) => {
    for (const service of WAKES[event.type] ?? []) {
      if (CONCERNED[service]?.(event) ?? true) wakers[service](event.sessionSeq, event.type);
    }
  };
  return {
    follow: (bus) => bus.subscribeAll((events) => events.forEach(wake)),
    stopConfirmed: (sessionSeq) =>
      WAKES['stop confirmed']?.forEach((service) => wakers[service](sessionSeq, 'stop confirmed')),
  };
}
