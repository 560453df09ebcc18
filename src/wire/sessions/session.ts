// Sessions: as the key of a session reads them, and as the management interface returns them for any user (§2.6,
// §2.10-2.12).
import { SESSION_KINDS, SESSION_STATUSES } from '../../domain/sessions/session.ts';
import { STOP_CAUSES, STOP_STATES } from '../../domain/sessions/stop.ts';
import { capabilityConfig } from '../capabilities/capability.ts';
import { object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { boolean, constant, integer, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, optional, type Static } from '../shape.ts';

/** A key's own session. */
export const ownSession = named(
  'OwnSession',
  object({
    session_id: uuid,
    title: string,
    status: oneOf(SESSION_STATUSES),
    created_at: time,
    updated_at: time,
  }),
);
export type OwnSessionWire = Static<typeof ownSession>;

/** A session of anybody. `confirmed_at` is null while an executor may still be at work. */
export const session = named(
  'Session',
  object({
    session_id: uuid,
    title: string,
    status: oneOf(SESSION_STATUSES),
    kind: oneOf(SESSION_KINDS),
    user_id: uuid,
    username: string,
    key_id: nullable(string),
    project_id: nullable(uuid),
    stop: nullable(
      object({ termination_reason: oneOf(STOP_CAUSES), requested_at: time, confirmed_at: nullable(time) }),
    ),
    created_at: time,
    updated_at: time,
  }),
);
export type SessionWire = Static<typeof session>;

/** What to list of sessions. `user` is a name or an id, `key` a public id. */
export const sessionQuery = object({ user: optional(string), key: optional(string), ...pageFields });

/** What a stop did (§2.11). */
export const stop = named(
  'Stop',
  object({
    session_id: uuid,
    status: oneOf(SESSION_STATUSES),
    stop_state: oneOf(STOP_STATES),
    termination_reason: oneOf(STOP_CAUSES),
    cancelled_runs: integer({ from: 0 }),
    expired_user_input_requests: integer({ from: 0 }),
    executor_cancelled: boolean,
  }),
);
export type StopWire = Static<typeof stop>;

/** What a delete did (§2.12). */
export const deletion = named('Deletion', object({ id: uuid, cleanup: object({ scheduled: constant(true) }) }));
export type DeletionWire = Static<typeof deletion>;

/** What the agent of a session may use (§2.10). */
export const sessionCapabilities = named(
  'SessionCapabilities',
  object({ session_id: uuid, capability_config: capabilityConfig }),
);
export type SessionCapabilitiesWire = Static<typeof sessionCapabilities>;
