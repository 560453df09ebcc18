// Wakes: which background services a committed event concerns, or an occasion that is in no journal.
import type { EventType, JournalEvent } from '../domain/sessions/journal-event.ts';
import type { Peers } from '../store/engine/database.ts';
import type { Bus } from './bus.ts';

/** The services that events wake. Those that only sleep until something is due are not here. */
export type WokenService =
  | 'queue'
  | 'queueWait'
  | 'questionWatch'
  | 'collector'
  | 'sweeper'
  | 'leftCopies'
  | 'planner'
  | 'sender'
  | 'upkeep'
  | 'scheduler'
  | 'publisher'
  | 'pageSweeper';

/** Occasions that have no event. Whoever makes one reports it, after its commit. */
const UNRECORDED_OCCASIONS = [
  'stop confirmed',
  'blobs released',
  'text discarded',
  'task rescheduled',
  'webhook changed',
  'webhook disabled',
  'deliveries planned',
  'share changed',
  'draft abandoned',
] as const;
const UNRECORDED: ReadonlySet<string> = new Set(UNRECORDED_OCCASIONS);
export type UnrecordedOccasion = (typeof UNRECORDED_OCCASIONS)[number];

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
  'workspace_export.completed': ['planner'],
  // A firing was inserted, a step follows another, or a firing is no longer held back.
  'scheduled_task.run_status_changed': ['queue', 'planner', 'publisher'],
  'publish_page.published': ['planner'],
  'publish_page.failed': ['planner'],
  'session.deleted': ['sweeper', 'leftCopies'],
  'stop confirmed': ['queue', 'collector', 'sweeper', 'leftCopies'],
  // It is erased a day later.
  'text discarded': ['sweeper'],
  // A clean-up may have waited for the hold.
  'blobs released': ['sweeper'],
  'task rescheduled': ['scheduler'],
  // Created, changed or deleted, or with something to send again.
  'webhook changed': ['planner', 'upkeep', 'sender'],
  // What is pending of it has to go.
  'webhook disabled': ['upkeep'],
  // At a node that sends none.
  'deliveries planned': ['sender'],
  // It ends at another time, or its bytes are to be given back.
  'share changed': ['pageSweeper'],
  'draft abandoned': ['pageSweeper'],
};

/** Turns that somebody waits for are admitted by the queue itself, but where another node accepts them: then those that it didn't start. */
const isForQueue = (event: JournalEvent, next: JournalEvent | undefined, hasPeers: boolean): boolean =>
  event.type !== 'run.queued' ||
  isBackground(event) ||
  (hasPeers && !(next?.type === 'run.started' && next.runSeq === event.runSeq));

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
  /** Calls the listener with each session of which that is so, here or at another node. */
  onStopConfirmed(listener: (sessionSeq: number) => void): void;
  readonly happened: Happened;
}

/** Those that concern a session are told with its number. */
const OF_SESSION: UnrecordedOccasion = 'stop confirmed';
/** Holds of blobs are known to their process only. */
const OF_PROCESS: UnrecordedOccasion = 'blobs released';

/** Makes them, before the services that report to them. `peers`: other daemons, which are told of what has no event. */
export function makeWakes(peers: Pick<Peers, 'tell' | 'onTold'> | null = null): Wakes {
  let wakers: Wakers | undefined;
  const stopListeners: ((sessionSeq: number) => void)[] = [];

  function report(occasion: UnrecordedOccasion, sessionSeq: number): void {
    WAKES[occasion]?.forEach((service) => wakers?.[service](sessionSeq, occasion));
    if (occasion === OF_SESSION) stopListeners.forEach((listener) => listener(sessionSeq));
  }

  function tell(occasion: UnrecordedOccasion, sessionSeq: number): void {
    report(occasion, sessionSeq);
    if (occasion !== OF_PROCESS) peers?.tell(sessionSeq === 0 ? occasion : `${occasion} ${sessionSeq}`);
  }

  function told(words: string | null): void {
    if (words === null) return UNRECORDED_OCCASIONS.forEach((occasion) => report(occasion, 0));
    const isOfSession = words.startsWith(`${OF_SESSION} `);
    const occasion = isOfSession ? OF_SESSION : words;
    if (isUnrecorded(occasion)) report(occasion, isOfSession ? Number(words.slice(OF_SESSION.length)) : 0);
  }

  peers?.onTold(told);
  return {
    follow: (bus, services) => {
      wakers = services;
      const isConcerned = (service: WokenService, event: JournalEvent, next: JournalEvent | undefined): boolean =>
        service === 'queue' ? isForQueue(event, next, peers !== null) : service !== 'queueWait' || isBackground(event);
      bus.subscribeAll((events) => {
        for (const [at, event] of events.entries())
          for (const service of WAKES[event.type] ?? [])
            if (isConcerned(service, event, events[at + 1])) services[service](event.sessionSeq, event.type);
      });
    },
    stopConfirmed: (sessionSeq) => tell('stop confirmed', sessionSeq),
    onStopConfirmed: (listener) => void stopListeners.push(listener),
    happened: (occasion) => tell(occasion, 0),
  };
}

/** Another version may tell of what this one doesn't know. */
const isUnrecorded = (words: string): words is UnrecordedOccasion => UNRECORDED.has(words);
