// The queue: waiting runs, and why each of them waits.
import { SCHEDULE_MODES } from '../../domain/sessions/run.ts';
import { array, object } from '../shapes/composites.ts';
import { called, record } from '../shapes/record.ts';
import { boolean, integer, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable } from '../shapes/shape.ts';

/**
 * A waiting run. `behind_run_id` is the earlier run that it waits for. `waiting_ms` counts from its acceptance, so
 * an earlier attempt is part of it.
 */
export const queueEntry = named(
  'QueueEntry',
  record({
    runId: uuid,
    sessionId: uuid,
    username: string,
    keyId: nullable(string),
    scheduleMode: oneOf(SCHEDULE_MODES),
    reason: string,
    behindRunId: nullable(uuid),
    waitingMs: integer({ from: 0 }),
    createdAt: time,
  }),
);
export type QueueEntryWire = JsonOf<typeof queueEntry>;

/**
 * `waiting_for_user`: runs that wait for their users, and hold no slot. `claiming` is false when the daemon has no workers
 * drains, or shuts down. `slots` and `busy` are those of the node that replies; `nodes` are those of the installation that are online:
 * how many start runs, and how many drain.
 */
export const queue = named(
  'Queue',
  record({
    items: array(queueEntry),
    total: integer({ from: 0 }),
    waitingForUser: integer({ from: 0 }),
    open: called('claiming', boolean),
    slots: integer({ from: 0 }),
    busy: integer({ from: 0 }),
    nodes: object({ online: integer({ from: 0 }), draining: integer({ from: 0 }) }),
  }),
);
export type QueueWire = JsonOf<typeof queue>;
