// The feed of Office Mode's floor: the events of all runs. While it has watchers, the last few thousand are kept to resume from.
import type { Clock } from '../domain/clock.ts';
import type { EventType, JournalEvent } from '../domain/sessions/journal-event.ts';
import { prepareOfficeEvent } from '../wire/journal-event.ts';
import type { Bus } from './bus.ts';
import { type Feed, OpenFeed } from './feed.ts';
import { makeLastWords } from './last-words.ts';
import { frameOf } from './office-frames.ts';
import { type Frame, type Frames, PAGE } from './past-pages.ts';
import { makeScopedQueue } from './scoped-queue.ts';
import type { EventScopes, ScopeSeqs } from './event-scopes.ts';

export interface OfficeFeed extends Feed {
  /**
   * Whether all events after an id are still kept. Those of an earlier daemon are not, nor those from before the first watcher.
   */
  isKept(afterId: number): boolean;
  /** The newest event's id; 0 before the first. */
  newestId(): number;
}

export interface OfficeFeedParts {
  readonly bus: Bus;
  readonly scopes: EventScopes;
  readonly clock: Clock;
  /** Minimum number of events kept. */
  readonly kept?: number;
}

/** Events only for watchers of the session: its texts. Of these, those of all runs hear the last words. */
const OF_SESSIONS: ReadonlySet<EventType> = new Set([
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'run.result',
  'result_block_start',
  'result_block_stop',
]);

const KEPT = 2_048;
/** How long events are kept for watchers that might come back. */
const KEEP_MS = 600_000;

export function makeOfficeFeed({ bus, scopes, clock, kept = KEPT }: OfficeFeedParts): OfficeFeed {
  const ring = makeRing(kept);
  let isWatched = false;
  /** Monotonic time until which events are kept without a watcher. */
  let keptUntil = -Infinity;
  const framesOf = (entries: readonly Entry[]) => entries.map(({ frame }) => frame(scopes));

  async function read(afterId: number): Promise<Frames> {
    const entries = ring.after(afterId).slice(0, PAGE);
    await scopes.lookUp(entries.map(({ of }) => of));
    return { frames: framesOf(entries), isCut: false };
  }

  const newestId = async () => ring.newestId();
  const wanted = () => (keptUntil = clock.monotonic() + KEEP_MS);
  const abandoned = () => {
    isWatched = false;
    words.forget();
    wanted();
  };
  const feed = new OpenFeed({ read, newestId, abandoned });
  const words = makeLastWords({
    scopes,
    clock,
    send: (bytes) => feed.mention(bytes),
    failed: (error) => feed.fail(error),
  });
  const publish = makeScopedQueue<Entry>({
    scopes,
    scopeOf: ({ of }) => of,
    publish: (entries) => feed.publish(framesOf(entries)),
    failed: (error) => feed.fail(error),
  });

  bus.subscribeAll((committed) => {
    // Most of the time nobody watches, and what is kept then costs each run.
    if (!isWatched && clock.monotonic() >= keptUntil) return ring.pass(committed.at(-1)!.id);
    const fresh = committed.filter(({ type }) => !OF_SESSIONS.has(type)).map(entryOf);
    ring.add(committed[0]!.id, fresh);
    if (!isWatched) return;
    if (fresh.length > 0) publish(fresh);
    words.take(committed);
  });

  return {
    isKept: (afterId) => {
      wanted();
      return ring.has(afterId);
    },
    newestId: () => {
      wanted();
      return ring.newestId();
    },
    follow: (afterId, watcher) => {
      isWatched = true;
      return feed.follow(afterId, watcher);
    },
  };
}

/** An event of the feed. It contains only what is sent, and its bytes once they were first needed. */
interface Entry {
  readonly id: number;
  readonly of: ScopeSeqs;
  frame(scopes: Pick<EventScopes, 'known'>): Frame;
}

function entryOf(event: JournalEvent): Entry {
  const { id, sessionSeq, runSeq } = event;
  const of = { sessionSeq, runSeq };
  const prepared = prepareOfficeEvent(event);
  let made: Frame | undefined;
  // The feed continues when a session is deleted.
  return { id, of, frame: (scopes) => (made ??= { ...frameOf(prepared(scopes.known(of)!)), isLast: false }) };
}

/** The last entries: at least `kept`, and fewer than twice as many. */
function makeRing(kept: number) {
  let entries: Entry[] = [];
  /** Everything after this id is kept; null before the first commit. */
  let floor: number | null = null;
  const has = (afterId: number) => floor !== null && afterId >= floor;
  return {
    has,
    newestId: () => entries.at(-1)?.id ?? floor ?? 0,
    /** Keeps nothing up to this id. */
    pass: (id: number): void => {
      floor = id;
      if (entries.length > 0) entries = [];
    },
    /** Adds the entries of a commit, whose first event had the given id. */
    add: (firstId: number, fresh: readonly Entry[]): void => {
      floor ??= firstId - 1;
      entries.push(...fresh);
      if (entries.length < kept * 2) return;
      floor = entries.at(-kept - 1)!.id;
      entries = entries.slice(-kept);
    },
    /**
     * The entries with an id above the given one, searched from the newest end. Throws when some of them are no longer kept.
     */
    after: (id: number): readonly Entry[] => {
      if (floor !== null && !has(id)) throw new Error('The watcher is slower than the feed.');
      let from = entries.length;
      while (from > 0 && entries[from - 1]!.id > id) from -= 1;
      return entries.slice(from);
    },
  };
}
