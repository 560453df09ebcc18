// Keeps the state fed: the office's stream, and a snapshot every so often, after gaps, and for runs that are unknown.
import { ClientError } from '../../client/transport/client-error.ts';
import { makeLastHour } from './last-hour.ts';
import { makeLivePages, type ReadParts } from './live-pages.ts';
import type { OfficeEvent } from '../../client/office-stream.ts';

/** Run entities of a snapshot: the most that the daemon gives. */
const SNAPSHOT_LIMIT = 96;
/** Budgets of teams: a page of them. */
const MOST_BUDGETS = 500;
/** Runs that begin together are asked for together. */
const SOON_MS = 400;
const TICK_MS = 1000;
/** A tick that comes this late: the machine slept, and its connections may be dead without knowing. */
const ASLEEP_MS = 10_000;

export interface FeedParts extends ReadParts {
  readonly take: (event: OfficeEvent) => void;
}

export interface Feed {
  readonly stop: () => void;
}

/** Starts to follow; ends with `stop`. */
export function startFeed(parts: FeedParts): Feed {
  const { get, dispatch, now } = parts;
  const snapshots = makeSnapshots(parts);
  const readLivePages = makeLivePages(parts);
  const readLastHour = makeLastHour(parts);
  let following = follow(parts, snapshots.soon, null);
  let tickedAt = now();
  const ticker = setInterval(() => {
    const at = now();
    dispatch({ type: 'tick', at });
    if (at - tickedAt > ASLEEP_MS) {
      following.stop();
      following = follow(parts, snapshots.soon, following.lastEventId());
    }
    tickedAt = at;
    if (get().office.hasUnknown) snapshots.soon();
    readLivePages();
    readLastHour();
  }, TICK_MS);
  return {
    stop() {
      clearInterval(ticker);
      following.stop();
      snapshots.stop();
    },
  };
}

/** One snapshot at a time: the next is due an interval after the last, or soon. */
function makeSnapshots({ client, get, dispatch, now }: FeedParts) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let isReading = false;
  let isWanted = false;
  let isStopped = false;

  /** What is due earlier stays due: an office in which runs begin all the time is read all the same. */
  const schedule = (delayMs: number) => {
    const at = performance.now() + delayMs;
    if (isStopped || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => void read(), delayMs);
  };

  const read = async () => {
    const { tz, intervalMs } = get().preferences;
    isReading = true;
    isWanted = false;
    dueAt = Number.POSITIVE_INFINITY;
    dispatch({ type: 'snapshot-asked', at: now() });
    try {
      const [snapshot, queue, budgets] = await Promise.all([
        client.office.snapshot({ limit: SNAPSHOT_LIMIT, tz }),
        client.queue(1).catch(() => null),
        // An older daemon has none.
        client.budgets.list({ subject: 'team', limit: MOST_BUDGETS }).catch(() => null),
      ]);
      if (!isStopped) dispatch({ type: 'snapshot', snapshot, queue, budgets, limit: SNAPSHOT_LIMIT, at: now() });
    } catch (error) {
      if (!(error instanceof ClientError) && !isStopped) throw error;
      if (!isStopped) dispatch({ type: 'snapshot-failed', failure: error as ClientError });
    }
    isReading = false;
    schedule(isWanted ? SOON_MS : intervalMs);
  };

  schedule(0);
  return {
    soon() {
      if (isReading) isWanted = true;
      else schedule(SOON_MS);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Follows the stream. When something may have been missed, and for each new run, a snapshot is due. */
function follow({ client, dispatch, take, now }: FeedParts, missed: () => void, from: string | null) {
  const controller = new AbortController();
  let lastEventId = from;
  const work = async () => {
    for await (const news of client.office.follow({ lastEventId, signal: controller.signal })) {
      if (controller.signal.aborted) return;
      if (news.kind === 'event') {
        if (news.event.type !== 'run.words') lastEventId = String(news.event.id);
        take(news.event);
        if (news.event.type === 'run.queued') missed();
      } else if (news.kind === 'lost') {
        dispatch({ type: 'stream-lost', failure: news.failure, retryAt: now() + news.retryMs });
      } else {
        if (news.kind === 'open') dispatch({ type: 'stream-open' });
        else lastEventId = news.id;
        if (news.kind === 'reset' || !news.resumed) {
          dispatch({ type: 'stream-reset' });
          missed();
        }
      }
    }
  };
  void work();
  return {
    lastEventId: () => lastEventId,
    stop: () => controller.abort(),
  };
}
