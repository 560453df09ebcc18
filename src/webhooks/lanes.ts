// Lanes: which webhook may send next. One for each webhook with something to send; it holds no deliveries.
import type { Lane } from '../store/webhooks/deliveries.ts';
import { makeLaneQueues } from './lane-queues.ts';
import { type Bucket, fullBucket, msUntilToken, takeToken } from './pace.ts';
import { makeSlots } from './slots.ts';

export interface Turn {
  readonly webhookId: number;
  /** How many deliveries it may start now, at least 1. */
  readonly room: number;
  /** What was in flight of it when the turn began: what is read of the store since may still have it pending. */
  readonly inFlight: ReadonlySet<number>;
}

/** What is known after an attempt. */
export interface AttemptEnd {
  readonly deliveryId: number;
  readonly standing: Lane['standing'];
  /** When the delivery is due again; null when it has ended. */
  readonly dueAt: number | null;
}

/** All times are wall time in epoch ms. */
export interface Lanes {
  /** A webhook has something pending. An earlier moment that is known already stays. */
  put(lane: Lane, now: number): void;
  /** The next webhook that may send. It must be parked before the next is taken. */
  take(now: number): Turn | null;
  /** Whether a delivery of its backlog may start; else the milliseconds until then. Uses up its turn when it may. */
  pace(webhookId: number, monotonic: number): number;
  start(webhookId: number, deliveryId: number): void;
  /** When the rest of a webhook is due; null when there is no rest. */
  park(webhookId: number, dueAt: number | null, now: number): void;
  end(webhookId: number, end: AttemptEnd, now: number): void;
  /** A moment after now, no later than any at which something is due; null for none. */
  nextDueAt(): number | null;
}

interface Entry {
  readonly webhookId: number;
  readonly owner: number;
  host: string;
  standing: Lane['standing'];
  dueAt: number | null;
  bucket: Bucket;
  /** When one that fails is tried again. */
  triedAgainAt: number;
  readonly inFlight: Set<number>;
}

const FRESH = { dueAt: null, triedAgainAt: 0 } as const;

/** Between attempts for a webhook that fails: whatever it has to send, its receiver is tried once a second. */
const FAILING_PAUSE_MS = 1_000;

/** Makes lanes without a webhook. */
export function makeLanes(): Lanes {
  const entries = new Map<number, Entry>();
  const slots = makeSlots();
  const queues = makeLaneQueues<Entry>(slots);
  let taken: Entry | null = null;

  /** Queues a webhook, or forgets it when it has nothing to do. */
  function settle(entry: Entry, now: number): void {
    if (entry === taken) return;
    // A moment further ahead than any pause is one of before the clock was set back.
    const isPausing = entry.triedAgainAt <= now + FAILING_PAUSE_MS;
    if (entry.dueAt !== null && isPausing) entry.dueAt = Math.max(entry.dueAt, entry.triedAgainAt);
    queues.place(entry, now);
    if (entry.dueAt === null && entry.inFlight.size === 0) entries.delete(entry.webhookId);
  }

  return {
    put: ({ nextAttemptAt, ...lane }, now) => {
      const entry = entries.get(lane.webhookId) ?? { ...lane, ...FRESH, bucket: fullBucket(), inFlight: new Set() };
      const isEarlier = entry.dueAt === null || nextAttemptAt < entry.dueAt;
      const isSame = entry.host === lane.host && entry.standing === lane.standing;
      Object.assign(entry, lane);
      entries.set(lane.webhookId, entry);
      if (isEarlier) entry.dueAt = nextAttemptAt;
      // One that waits for its turn keeps its place in the queue.
      if (isEarlier || !isSame) settle(entry, now);
    },

    take: (now) => {
      const found = queues.next(now);
      if (found === null) return null;
      taken = found.entry;
      queues.unplace(taken);
      taken.dueAt = null;
      return { webhookId: taken.webhookId, room: found.room, inFlight: new Set(taken.inFlight) };
    },

    pace: (webhookId, monotonic) => {
      const entry = entries.get(webhookId)!;
      const waitMs = msUntilToken(entry.bucket, monotonic);
      if (waitMs === 0) entry.bucket = takeToken(entry.bucket, monotonic);
      return waitMs;
    },

    start: (webhookId, deliveryId) => {
      const entry = entries.get(webhookId)!;
      entry.inFlight.add(deliveryId);
      slots.occupy(deliveryId, entry);
    },

    park: (webhookId, dueAt, now) => {
      const entry = entries.get(webhookId)!;
      taken = null;
      entry.dueAt = earlier(entry.dueAt, dueAt);
      settle(entry, now);
    },

    end: (webhookId, { deliveryId, standing, dueAt }, now) => {
      const entry = entries.get(webhookId)!;
      entry.inFlight.delete(deliveryId);
      slots.leave(deliveryId);
      entry.standing = standing;
      entry.triedAgainAt = standing === 'failing' ? now + FAILING_PAUSE_MS : 0;
      entry.dueAt = earlier(entry.dueAt, dueAt);
      settle(entry, now);
    },

    nextDueAt: queues.nextDueAt,
  };
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
