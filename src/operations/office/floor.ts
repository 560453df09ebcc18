// What Office Mode shows of all runs: the snapshot, and today's runs of a team (§4.8 rules 1-9).
import type { Clock } from '../../domain/clock.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import { notFound } from '../../domain/errors.ts';
import { OFFICE_STATUS, type OfficeStatus, type RunSource, UNASSIGNED_TEAM } from '../../domain/sessions/office.ts';
import { RUN_STATUSES } from '../../domain/sessions/run.ts';
import { dayStartQuarter, QUARTER_MS, quarterOf } from '../../domain/time-zone.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { DayUsage } from '../../store/office/day-usage.ts';
import type { QuarterUsage } from '../../store/office/last-hour.ts';
import type { OfficeSnapshot, RecentSession, TeamDay } from '../../store/office/snapshot.ts';
import type { TodayPage, TodayRun } from '../../store/office/today.ts';
import type { Store } from '../../store/open-store.ts';
import { type ConversationAccess, conversationAccess, seen, type SeenRun } from './conversation-access.ts';

/** `timeZone` determines which day is today. */
export interface SnapshotQuery {
  readonly limit: number;
  readonly timeZone: string;
}

/** How many runs there are in each status, and what they have used. */
interface Overview extends Readonly<Record<OfficeStatus, number>>, DayUsage {
  readonly total: number;
  readonly visibleConversations: number;
}

export interface FloorSnapshot {
  readonly at: number;
  readonly overview: Overview;
  /** With the team of those who have none, while it has something to show (rule 1). It is as old as the day. */
  readonly teams: readonly TeamDay[];
  readonly runs: readonly SeenRun[];
  readonly recent: readonly (RecentSession & { readonly access: ConversationAccess })[];
}

/** `source` null: any source. `page` counts from 1. */
export interface TodayQuery {
  readonly source: RunSource | null;
  readonly timeZone: string;
  readonly limit: number;
  readonly page: number;
}

/** A run with what its session used today (rule 8). */
type SeenToday = SeenRun & Pick<TodayRun, 'source' | 'taskId' | 'stepId' | 'isDeleted'>;

export interface TodayRuns extends Pick<TodayPage, 'total' | 'itemTotal'> {
  readonly teamId: string;
  readonly at: number;
  readonly items: readonly SeenToday[];
  readonly limit: number;
  readonly page: number;
  readonly hasMore: boolean;
  readonly nextPage: number | null;
}

export interface LiveRuns extends Listing<SeenRun>, Page {
  readonly at: number;
}

/** What each team used, by quarters of an hour; the first of them may have begun before the hour. */
export interface LastHour {
  readonly at: number;
  readonly teams: readonly { readonly id: string; readonly steps: readonly UsageStep[] }[];
}

interface UsageStep extends DayUsage {
  readonly startedAt: number;
}

const HOUR_MS = 3_600_000;

export interface FloorParts {
  readonly store: Pick<Store, 'office'>;
  readonly clock: Clock;
}

/** The verbs. */
export function makeFloor({ store, clock }: FloorParts) {
  return {
    getOfficeSnapshot: async (caller: Administrator, { limit, timeZone }: SnapshotQuery): Promise<FloorSnapshot> => {
      const at = clock.now();
      const since = dayStartQuarter(at, timeZone);
      const found = await store.office.getSnapshot({ limit, since });
      return {
        at,
        overview: overviewOf(found),
        teams: [...found.teams, ...unassignedOf(found, since * QUARTER_MS)],
        runs: found.runs.map((run) => seen(run, caller, at)),
        recent: found.recent.map((one) => ({ ...one, access: conversationAccess(caller, one.userId) })),
      };
    },

    listLiveRuns: async (caller: Administrator, page: Page): Promise<LiveRuns> => {
      const { items, total } = await store.office.listLiveRuns(page);
      const at = clock.now();
      return { at, items: items.map((run) => seen(run, caller, at)), total, ...page };
    },

    getLastHour: async (_caller: Administrator): Promise<LastHour> => {
      const at = clock.now();
      const quarters = await store.office.listQuarters({ first: quarterOf(at - HOUR_MS), last: quarterOf(at) });
      const teams = Map.groupBy(quarters, ({ team }) => team ?? UNASSIGNED_TEAM.id);
      return { at, teams: [...teams].map(([id, used]) => ({ id, steps: used.map(stepOf) })) };
    },

    /** Throws `not_found` for an unknown team (G11). */
    listTodayRuns: async (caller: Administrator, teamId: string, query: TodayQuery): Promise<TodayRuns> => {
      const { source, limit, page, timeZone } = query;
      const team = teamId === UNASSIGNED_TEAM.id ? null : teamId.toLowerCase();
      if (team !== null && !(await store.office.hasTeam(team))) throw notFound('Team');
      const at = clock.now();
      const since = dayStartQuarter(at, timeZone);
      const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
      const { items, total, itemTotal } = await store.office.listToday({ team, source, since, limit, offset });
      const hasMore = page * limit < itemTotal;
      return {
        teamId: team ?? teamId,
        at,
        items: items.map((item) => seenToday(item, caller, at)),
        total,
        itemTotal,
        limit,
        page,
        hasMore,
        nextPage: hasMore ? page + 1 : null,
      };
    },
  };
}

function seenToday({ run, usage, ...item }: TodayRun, caller: Administrator, at: number): SeenToday {
  return { ...seen({ ...run, costUsd: usage.costUsd, totalTokens: usage.tokens }, caller, at), ...item };
}

function overviewOf({ runCounts, sessionCount, usage }: OfficeSnapshot): Overview {
  const counts: Record<OfficeStatus, number> = { running: 0, pending: 0, failed: 0, completed: 0, idle: 0 };
  for (const status of RUN_STATUSES) counts[OFFICE_STATUS[status]] += runCounts[status] ?? 0;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { total, ...counts, visibleConversations: sessionCount, ...usage };
}

function unassignedOf({ unassigned }: OfficeSnapshot, dayStart: number): TeamDay[] {
  if (unassigned === null) return [];
  return [{ ...UNASSIGNED_TEAM, ...unassigned, budgetUsd: null, createdAt: dayStart, updatedAt: dayStart }];
}

function stepOf({ quarter, tokens, costUsd }: QuarterUsage): UsageStep {
  return { startedAt: quarter * QUARTER_MS, tokens, costUsd };
}
