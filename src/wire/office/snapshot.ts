// The snapshot of Office Mode, and today's runs of a team (§2.14, §4.8).
import { RUN_SOURCES, UNASSIGNED_TEAM } from '../../domain/sessions/office.ts';
import { QUARTER_MS } from '../../domain/time-zone.ts';
import { array } from '../shapes/composites.ts';
import { digits, timeZone as zone } from '../shapes/query.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { boolean, integer, number, oneOf, string, time } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse } from '../shapes/shape.ts';
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

/** When it was read. */
const at = called('generated_at', time);

/** A team and its figures of today. */
const officeTeam = named(
  'OfficeTeam',
  record({
    id: string,
    name: string,
    budgetUsd: called('budget_amount_usd', nullable(cost)),
    /** Distinct sessions with usage today. */
    active: called('today_active', count),
    scheduledTasks: called('scheduled_task_count', count),
    tokens: called('today_total_tokens', count),
    costUsd: called('today_cost_usd', cost),
    createdAt: time,
    updatedAt: time,
  }),
);

const overview = record({
  total: count,
  running: count,
  pending: count,
  failed: count,
  completed: count,
  idle: count,
  visibleConversations: count,
  costUsd: called('total_cost_usd', cost),
  tokens: called('total_tokens', count),
});

/** Administrators see every conversation (G14). */
const permissions = made(record({ allowOtherConversations: boolean, conversationAccessLabel: string }), () => ({
  allowOtherConversations: true,
  conversationAccessLabel: 'Administrator, read only',
}));

/** The floor at one moment; "today" is a day of the requested time zone. */
export const snapshot = named(
  'OfficeSnapshot',
  record({
    at,
    overview,
    permissions,
    teams: array(officeTeam),
    runs: called('entities', array(entity)),
    recent: called('recent_sessions', array(recentSession)),
  }),
);
export type SnapshotWire = JsonOf<typeof snapshot>;

/** Live runs, in the order of a snapshot. */
export const liveRuns = named(
  'OfficeLiveRuns',
  record({ at, items: array(entity), total: count, limit: integer({ from: 1 }), offset: count }),
);
export type LiveRunsWire = JsonOf<typeof liveRuns>;

const usageStep = record({
  startedAt: time,
  tokens: called('total_tokens', count),
  costUsd: called('total_cost_usd', cost),
});

/** What each team used in the last hour. The first step may have begun before it; steps without usage are left out. */
export const lastHour = named(
  'OfficeLastHour',
  record({
    at,
    stepSeconds: made(integer({ from: 1 }), () => QUARTER_MS / 1_000),
    teams: array(record({ id: string, steps: array(usageStep) })),
  }),
);
export type LastHourWire = JsonOf<typeof lastHour>;

/** A page of today's runs of a team. `total` counts as `today_active` does, `item_total` what has rows (§4.8 rules 3 and 4). */
export const todayRuns = named(
  'OfficeTodayRuns',
  record({
    teamId: string,
    at,
    items: array(todayItem),
    total: count,
    itemTotal: count,
    limit: integer({ from: 1 }),
    page: integer({ from: 1 }),
    hasMore: boolean,
    nextPage: nullable(integer({ from: 2 })),
  }),
);
export type TodayRunsWire = JsonOf<typeof todayRuns>;
