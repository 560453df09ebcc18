// The rows of Office Mode: runs as people look at them (§2.14, G1, G13-G15).
import { RUN_SOURCES } from '../../domain/sessions/office.ts';
import { object } from '../composites.ts';
import { boolean, integer, number, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, type Static } from '../shape.ts';

const count = integer({ from: 0 });
/** US dollars. */
const cost = number({ from: 0 });

/** What a run's status is for people: `running` includes finalizing, `idle` is a stopped run (G1). */
export const ENTITY_STATUSES = ['running', 'pending', 'failed', 'completed', 'idle'] as const;
export const entityStatus = oneOf(ENTITY_STATUSES);

/** `owner` for the administrator's own sessions. */
const accessMode = oneOf(['owner', 'admin_readonly']);

const PERSON = { user_id: uuid, username: string, full_name: string };
/** `__unassigned__` where there is none (G19). */
export const TEAM = { team_id: string, team_name: string };
const ACCESS = { can_view_conversation: boolean, conversation_access_mode: accessMode };

const ENTITY = {
  id: string,
  kind: oneOf(['session-run']),
  title: string,
  /** Who and which team. */
  subtitle: string,
  status: entityStatus,
  /** Tokens, cost and tools in one line. */
  meta: string,
  progress: integer({ from: 0, to: 100 }),
  /** What the agent does now, in one line; null when the run is over. */
  detail: nullable(string),
  /** It repeats a call, its own or a sub-agent's, while the server of the model is down; null otherwise. */
  model_wait: nullable(
    object({ model: string, agent: nullable(string), since: time, waited_seconds: count, message: string }),
  ),
  ...TEAM,
  run_id: uuid,
  session_id: uuid,
  session_title: string,
  ...PERSON,
  started_at: nullable(time),
  finished_at: nullable(time),
  updated_at: time,
  elapsed_seconds: integer({ from: 0 }),
  last_error: nullable(string),
  total_cost_usd: cost,
  total_tokens: count,
  message_count: count,
  artifact_count: count,
  ...ACCESS,
};

/** A run, as a row. */
export const entity = named('OfficeEntity', object(ENTITY));
export type EntityWire = Static<typeof entity>;

/** A row of today's runs of a team; its `id` is `<session_id>:<run_id>`, and its cost and tokens are the session's of today. */
export const todayItem = named(
  'OfficeTodayItem',
  object({
    ...ENTITY,
    is_deleted: boolean,
    source_type: oneOf(RUN_SOURCES),
    scheduled_task_id: nullable(uuid),
    scheduled_task_step_id: nullable(uuid),
  }),
);
export type TodayItemWire = Static<typeof todayItem>;

/** One of the sessions that changed last. */
export const recentSession = named(
  'OfficeRecentSession',
  object({
    id: string,
    session_id: uuid,
    run_id: nullable(uuid),
    ...PERSON,
    ...TEAM,
    title: string,
    session_title: string,
    status: entityStatus,
    updated_at: time,
    ...ACCESS,
  }),
);
export type RecentSessionWire = Static<typeof recentSession>;
