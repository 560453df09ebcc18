// The sender: one loop that sends what is due, a bounded number of attempts at a time (H3).
import { makeService } from '../services/service.ts';
import type { PendingDelivery } from '../store/webhooks/deliveries.ts';
import { makeClockWatch } from './clock-watch.ts';
import { type Attempts, makeAttempts, type SenderParts } from './attempts.ts';
import { type Lanes, makeLanes, type Turn } from './lanes.ts';

export interface Sender {
  /** Sends what is due of these webhooks; they may have new deliveries. Without a webhook, sends what is due of all. */
  wake(webhookIds?: Iterable<number>): void;
  /** Resolves when nothing more can be started now. */
  settled(): Promise<void>;
  /** Starts no more attempts, and gives those in flight three seconds. What did not end is sent again by the next daemon. */
  stop(): Promise<void>;
}

/** How often all webhooks are looked at: those of users who were enabled again wake nobody. */
const LOOK_MS = 60_000;
/** Deliveries planned longer ago than this are a backlog. */
const BACKLOG_AGE_MS = 60_000;

/** Makes the sender. It sends nothing before its first wake. */
export function makeSender(parts: SenderParts): Sender {
  const { store, clock, log } = parts;
  const lanes = makeLanes();
  const woken = new Set<number>();
  let looksAt = 0;

  const watchClock = makeClockWatch(parts);
  const attempts = makeAttempts(parts, (webhookId, end) => {
    lanes.end(webhookId, end, clock.now());
    service.wake();
  });
  const use = makeUse(parts, lanes, attempts);
  const service = makeService({ work, failure: 'Webhooks could not be sent.', clock, log });

  async function work(stopping: AbortSignal): Promise<number> {
    if (await watchClock()) looksAt = 0;
    await look();
    for (let turn = lanes.take(clock.now()); turn !== null; turn = stopping.aborted ? null : lanes.take(clock.now()))
      await use(turn);
    const dueInMs = (lanes.nextDueAt() ?? Infinity) - clock.now();
    return Math.max(0, Math.min(dueInMs, looksAt - clock.monotonic()));
  }

  /** Notes which webhooks have something to send: those that were woken, from time to time all. */
  async function look(): Promise<void> {
    const now = clock.monotonic();
    if (now >= looksAt) await lookAtAll(now);
    for (const webhookId of woken) {
      // Before the read: a wake meanwhile may be of what it doesn't find yet.
      woken.delete(webhookId);
      const lane = await store.deliveries.findLane(webhookId).catch((error: unknown) => {
        woken.add(webhookId);
        throw error;
      });
      if (lane !== undefined) lanes.put(lane, clock.now());
    }
  }

  async function lookAtAll(now: number): Promise<void> {
    // Before the read, for the same reason.
    looksAt = now + LOOK_MS;
    try {
      for (const lane of await store.deliveries.listLanes()) lanes.put(lane, clock.now());
    } catch (error) {
      looksAt = 0;
      throw error;
    }
  }

  return {
    wake: (webhookIds) => {
      if (webhookIds === undefined) looksAt = 0;
      else for (const webhookId of webhookIds) woken.add(webhookId);
      service.wake();
    },
    settled: service.settled,
    stop: async () => attempts.stop(service.stop()),
  };
}

/** Makes the function that starts what is due of a webhook, and parks it until its next delivery is due. */
function makeUse({ store, clock }: SenderParts, lanes: Lanes, attempts: Attempts): (turn: Turn) => Promise<void> {
  async function startDue({ webhookId, room, inFlight }: Turn): Promise<number | null> {
    const target = await store.deliveries.findTarget(webhookId, clock.now());
    if (target === undefined) return null;
    const pending = await store.deliveries.listPending(webhookId, inFlight.size + room + 1);
    let left = room;
    for (const delivery of pending.filter(({ id }) => !inFlight.has(id))) {
      const dueAt = left === 0 ? delivery.nextAttemptAt : startableAt(delivery);
      if (left === 0 || dueAt > clock.now()) return dueAt;
      lanes.start(webhookId, delivery.id);
      attempts.start(target, delivery);
      left -= 1;
    }
    return null;
  }

  /** When a delivery may start, by its due time and, of a backlog, by the pace. */
  function startableAt({ webhookId, nextAttemptAt, createdAt }: PendingDelivery): number {
    const now = clock.now();
    if (nextAttemptAt > now || now - createdAt < BACKLOG_AGE_MS) return nextAttemptAt;
    return now + lanes.pace(webhookId, clock.monotonic());
  }

  return async (turn) => {
    // If reading fails, it is due again after the pause of the service.
    let dueAt: number | null = clock.now();
    try {
      dueAt = await startDue(turn);
    } finally {
      lanes.park(turn.webhookId, dueAt, clock.now());
    }
  };
}
