// The queue: waiting runs, and why each of them waits.
import { SCHEDULE_MODES } from '../../domain/sessions/run.ts';
import { array, object } from '../composites.ts';
import { boolean, integer, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, type Static } from '../shape.ts';

/**
 * A waiting run. `behind_run_id` is the earlier run that it waits for. `waiting_ms` counts from its acceptance, so
 * an earlier attempt is part of it.
 */
export const queueEntry = named(
  'QueueEntry',
  object({
    run_id: uuid,
    session_id: uuid,
    username: string,
    key_id: nullable(string),
    schedule_mode: oneOf(SCHEDULE_MODES),
    reason: string,
    behind_run_id: nullable(uuid),
    waiting_ms: integer({ from: 0 }),
    created_at: time,
  }),
);
export type QueueEntryWire = Static<typeof queueEntry>;

/**
 * `waiting_for_user`: runs that wait for their users, and hold no slot. `claiming` is false when the daemon has no workers
 * or shuts down.
 */
export const queue = named(
  'Queue',
  object({
    items: array(queueEntry),
    total: integer({ from: 0 }),
    waiting_for_user: integer({ from: 0 }),
    claiming: boolean,
    slots: integer({ from: 0 }),
    busy: integer({ from: 0 }),
  }),
);
export type QueueWire = Static<typeof queue>;
