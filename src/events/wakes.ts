// Wakes: which background services a committed event concerns, or an occasion that is in no journal.
import type { EventType, JournalEvent } from '../domain/sessions/journal-event.ts';
import type { Bus } from './bus.ts';

/** The services that events wake. Those that only sleep until something is due are not here. */
export type WokenService =
  | 'queue'
  | 'queueWait'
  | 'questionWatch'
  | 'collector'
  | 'filesKnown'
  | 'sweeper'
  | 'planner'
  | 'sender'
  | 'upkeep'
  | 'scheduler'
  | 'publisher'
  | 'pageSweeper';

/** An occasion that has no event. Whoever makes it reports it, after its commit. */
export type UnrecordedOccasion =
  | 'stop confirmed'
  | 'blobs released'
  | 'task rescheduled'
  | 'webhook changed'
  | 'webhook disabled'
  | 'share changed'
  | 'draft abandoned';

/** The reason for a wake. */
export type Occasion = EventType | UnrecordedOccasion;

/** Reports one that concerns no session. */
export type Happened = (occasion: Exclude<UnrecordedOccasion, 'stop confirmed'>) => void;

/**
 * The table. Two occasions are not in it: an accepted turn that somebody waits for, which the queue admits itself, and a free slot.
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
  // Of a session whose workspace may be at another node.
  'artifacts.ready': ['filesKnown'],
  'artifacts.failed': ['filesKnown'],
  'workspace_export.completed': ['planner'],
  // A firing was inserted, a step follows another, or a firing is no longer held back.
  'scheduled_task.run_status_changed': ['queue', 'planner', 'publisher'],
  'publish_page.published': ['planner'],
  'publish_page.failed': ['planner'],
  'session.deleted': ['sweeper'],
  'stop confirmed': ['queue', 'collector', 'sweeper'],
  // A clean-up may have waited for the hold.
  'blobs released': ['sweeper'],
  'task rescheduled': ['scheduler'],
  // Created, changed or deleted, or with something to send again.
  'webhook changed': ['planner', 'upkeep', 'sender'],
  // What is pending of it has to go.
  'webhook disabled': ['upkeep'],
  // It ends at another time, or its bytes are to be given back.
  'share changed': ['pageSweeper'],
  'draft abandoned': ['pageSweeper'],
};

/** Services that only some events of a type concern. */
const CONCERNED: { readonly [S in WokenService]?: (event: JournalEvent) => boolean } = {
  queue: (event) => event.type !== 'run.queued' || isBackground(event),
  queueWait: isBackground,
};

function isBackground(event: JournalEvent): boolean {
  return event.type === 'run.queued' && event.payload.scheduleMode === 'background';
}

/** How each service is woken. The session is 0 where the occasion is of none. */
export type Wakers = { readonly [S in WokenService]: (sessionSeq: number, occasion: Occasion) => void };

export interface Wakes {
  /** Wakes services by the events of each commit and by reported occasions from now on. */
  follow(bus: Bus, wakers: Wakers): void;
  /** The executor of a stopped session has ended, and that is committed. */
  stopConfirmed(sessionSeq: number): void;
  readonly happened: Happened;
}

/** Makes them, before the services that report to them. */
export function makeWakes(): Wakes {
  let wakers: Wakers | undefined;
  const report = (occasion: UnrecordedOccasion, sessionSeq: number) =>
    WAKES[occasion]?.forEach((service) => wakers?.[service](sessionSeq, occasion));
  return {
    follow: (bus, services) => {
      wakers = services;
      bus.subscribeAll((events) => {
        for (const event of events)
          for (const service of WAKES[event.type] ?? [])
            if (CONCERNED[service]?.(event) ?? true) services[service](event.sessionSeq, event.type);
      });
    },
    stopConfirmed: (sessionSeq) => report('stop confirmed', sessionSeq),
    happened: (occasion) => report(occasion, 0),
  };
}
