// The floor of Office Mode, as the wire has it (§2.14, §4.8, G13-G15, G19).
import { isoTime } from '../../domain/clock.ts';
import type { Page } from '../../domain/listing.ts';
import {
  OFFICE_STATUS,
  type OfficeStatus,
  SESSION_OFFICE_STATUS,
  UNASSIGNED_TEAM,
} from '../../domain/sessions/office.ts';
import { RUN_STATUSES } from '../../domain/sessions/run.ts';
import { QUARTER_MS } from '../../domain/time-zone.ts';
import type { Glance, FloorSnapshot, LastHour, LiveRuns, TodayRuns } from '../../operations/office/floor.ts';
import { conversationAccess } from '../../operations/office/conversation-access.ts';
import type { RecentSession, TeamDay } from '../../store/office/snapshot.ts';
import type { TodayRun } from '../../store/office/today.ts';
import type { RecentSessionWire, TodayItemWire } from '../../wire/office/entity.ts';
import type { LastHourWire, LiveRunsWire, SnapshotWire, TodayRunsWire } from '../../wire/office/snapshot.ts';
import { lookAt, renderEntity, teamFields } from './entity-wire.ts';

/** Administrators see every conversation (G14). */
const PERMISSIONS = { allow_other_conversations: true, conversation_access_label: 'Administrator, read only' };

type TeamWire = SnapshotWire['teams'][number];

export function renderSnapshot(floor: FloorSnapshot): SnapshotWire {
  return {
    generated_at: isoTime(floor.at),
    overview: renderOverview(floor),
    permissions: PERMISSIONS,
    teams: [...floor.teams.map(renderTeamDay), ...renderUnassigned(floor)],
    entities: floor.runs.map((run) => renderEntity(run, lookAt(run, floor))),
    recent_sessions: floor.recent.map((session) => renderRecent(session, floor)),
  };
}

function renderOverview({ runCounts, sessionCount, usage }: FloorSnapshot): SnapshotWire['overview'] {
  const counts: Record<OfficeStatus, number> = { running: 0, pending: 0, failed: 0, completed: 0, idle: 0 };
  for (const status of RUN_STATUSES) counts[OFFICE_STATUS[status]] += runCounts[status] ?? 0;
  return {
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    ...counts,
    visible_conversations: sessionCount,
    total_cost_usd: usage.costUsd,
    total_tokens: usage.tokens,
  };
}

function renderTeamDay(team: TeamDay): TeamWire {
  return {
    id: team.id,
    name: team.name,
    budget_amount_usd: team.budgetUsd,
    today_active: team.active,
    scheduled_task_count: team.scheduledTasks,
    today_total_tokens: team.tokens,
    today_cost_usd: team.costUsd,
    created_at: isoTime(team.createdAt),
    updated_at: isoTime(team.updatedAt),
  };
}

/** The team of those who have none, while it has something to show (rule 1). It is as old as the day. */
function renderUnassigned({ unassigned, dayStart }: FloorSnapshot): TeamWire[] {
  if (unassigned === null) return [];
  return [
    renderTeamDay({ ...UNASSIGNED_TEAM, ...unassigned, budgetUsd: null, createdAt: dayStart, updatedAt: dayStart }),
  ];
}

function renderRecent(session: RecentSession, { caller }: Glance): RecentSessionWire {
  return {
    id: session.sessionId,
    session_id: session.sessionId,
    run_id: session.runId,
    user_id: session.userId,
    username: session.username,
    full_name: session.fullName,
    ...teamFields(session),
    title: session.title,
    session_title: session.title,
    status: SESSION_OFFICE_STATUS[session.status],
    updated_at: isoTime(session.updatedAt),
    can_view_conversation: true,
    conversation_access_mode: conversationAccess(caller, session.userId),
  };
}

export function renderLiveRuns(live: LiveRuns, { limit, offset }: Page): LiveRunsWire {
  const items = live.items.map((run) => renderEntity(run, lookAt(run, live)));
  return { generated_at: isoTime(live.at), items, total: live.total, limit, offset };
}

export function renderLastHour({ at, quarters }: LastHour): LastHourWire {
  const teams = Map.groupBy(quarters, ({ team }) => team ?? UNASSIGNED_TEAM.id);
  return {
    generated_at: isoTime(at),
    step_seconds: QUARTER_MS / 1000,
    teams: [...teams].map(([id, used]) => ({ id, steps: used.map(renderQuarter) })),
  };
}

function renderQuarter({ quarter, tokens, costUsd }: LastHour['quarters'][number]) {
  return { started_at: isoTime(quarter * QUARTER_MS), total_tokens: tokens, total_cost_usd: costUsd };
}

export function renderTodayRuns(
  today: TodayRuns,
  { limit, page }: { readonly limit: number; readonly page: number },
): TodayRunsWire {
  const hasMore = page * limit < today.itemTotal;
  return {
    team_id: today.teamId,
    generated_at: isoTime(today.at),
    items: today.items.map((item) => renderTodayRun(item, today)),
    total: today.total,
    item_total: today.itemTotal,
    limit,
    page,
    has_more: hasMore,
    next_page: hasMore ? page + 1 : null,
  };
}

/** A run with what its session used today (rule 8). A deleted session has no conversation to look at (rule 7). */
function renderTodayRun({ run, usage, isDeleted, ...item }: TodayRun, glance: Glance): TodayItemWire {
  const used = { ...run, costUsd: usage.costUsd, totalTokens: usage.tokens };
  return {
    ...renderEntity(used, lookAt(run, glance)),
    id: `${run.sessionId}:${run.id}`,
    can_view_conversation: !isDeleted,
    is_deleted: isDeleted,
    source_type: item.source,
    scheduled_task_id: item.taskId,
    scheduled_task_step_id: item.stepId,
  };
}
