// Runs, as the management interface returns them.
import { PROTOCOLS, RUN_STATUSES, SCHEDULE_MODES, STOP_REASONS } from '../../domain/sessions/run.ts';
import { object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { runError } from '../run-error.ts';
import { boolean, integer, number, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, optional, type Static } from '../shape.ts';

/** A run of anybody. `waiting_for_user`: it is `running`, without a worker, and its user is asked. */
export const run = named(
  'Run',
  object({
    run_id: uuid,
    session_id: uuid,
    user_id: uuid,
    username: string,
    key_id: nullable(string),
    status: oneOf(RUN_STATUSES),
    waiting_for_user: boolean,
    protocol: oneOf(PROTOCOLS),
    schedule_mode: oneOf(SCHEDULE_MODES),
    model: nullable(string),
    attempt: integer({ from: 0 }),
    resumes: integer({ from: 0 }),
    input_tokens: integer({ from: 0 }),
    output_tokens: integer({ from: 0 }),
    cost_usd: number({ from: 0 }),
    stop_reason: nullable(oneOf(STOP_REASONS)),
    error: nullable(runError),
    created_at: time,
    started_at: nullable(time),
    finished_at: nullable(time),
  }),
);
export type RunWire = Static<typeof run>;

/** What to list of runs. */
export const runQuery = object({
  session: optional(string),
  status: optional(oneOf(RUN_STATUSES)),
  ...pageFields,
});
