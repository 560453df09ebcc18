// The snapshot of Office Mode, and today's runs of a team (§2.14, §4.8).
import { RUN_SOURCES, UNASSIGNED_TEAM } from '../../domain/sessions/office.ts';
import { array, object } from '../composites.ts';
import { digits, timeZone as zone } from '../query.ts';
import { called, request } from '../record.ts';
import { boolean, integer, number, oneOf, string, time } from '../scalars.ts';
import { named, nullable, orElse, type Static } from '../shape.ts';
import { entity, recentSession, todayItem } from './entity.ts';

const count = integer({ from: 0 });
/** US dollars. */
const cost = number({ from: 0 });

/** The team of those who have none (§4.8 rule 1). */
export const UNASSIGNED_TEAM_ID = UNASSIGNED_TEAM.id;

const timeZone = called('tz', zone('Asia/Shanghai'));

/** How many runs to return, and the time zone of today. */
export const snapshotQuery = request({ limit: digits({ from: 1, to: 96, absent: 72 }), timeZone });

/** A page of sessions, of one source or of any. */
export const todayQuery = request({
  limit: digits({ from: 1, to: 50, absent: 10 }),
  page: digits({ from: 1, to: Number.MAX_SAFE_INTEGER, absent: 1 }),
  source: called('source_type', orElse(oneOf(RUN_SOURCES), null)),
  timeZone,
});

/** A team and its figures of today. */
const officeTeam = named(
  'OfficeTeam',
  object({
    id: string,
    name: string,
    budget_amount_usd: nullable(cost),
    /** Distinct sessions with usage today. */
    today_active: count,
    scheduled_task_count: count,
    today_total_tokens: count,
    today_cost_usd: cost,
    created_at: time,
    updated_at: time,
  }),
);

/** The floor at one moment; "today" is a day of the requested time zone. */
export const snapshot = named(
  'OfficeSnapshot',
  object({
    generated_at: time,
    overview: object({
      total: count,
      running: count,
      pending: count,
      failed: count,
      completed: count,
      idle: count,
      visible_conversations: count,
      total_cost_usd: cost,
      total_tokens: count,
    }),
    permissions: object({ allow_other_conversations: boolean, conversation_access_label: string }),
    teams: array(officeTeam),
    entities: array(entity),
    recent_sessions: array(recentSession),
  }),
);
export type SnapshotWire = Static<typeof snapshot>;

/** Live runs, in the order of a snapshot. */
export const liveRuns = named(
  'OfficeLiveRuns',
  object({ generated_at: time, items: array(entity), total: count, limit: integer({ from: 1 }), offset: count }),
);
export type LiveRunsWire = Static<typeof liveRuns>;

/** What each team used in the last hour. The first step may have begun before it; steps without usage are left out. */
export const lastHour = named(
  'OfficeLastHour',
  object({
    generated_at: time,
    step_seconds: integer({ from: 1 }),
    teams: array(
      object({ id: string, steps: array(object({ started_at: time, total_tokens: count, total_cost_usd: cost })) }),
    ),
  }),
);
export type LastHourWire = Static<typeof lastHour>;

/** A page of today's runs of a team. `total` counts as `today_active` does, `item_total` what has rows (§4.8 rules 3 and 4). */
export const todayRuns = named(
  'OfficeTodayRuns',
  object({
    team_id: string,
    generated_at: time,
    items: array(todayItem),
    total: count,
    item_total: count,
    limit: integer({ from: 1 }),
    page: integer({ from: 1 }),
    has_more: boolean,
    next_page: nullable(integer({ from: 2 })),
  }),
);
export type TodayRunsWire = Static<typeof todayRuns>;
