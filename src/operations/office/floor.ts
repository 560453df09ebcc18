// What Office Mode shows of all runs: the snapshot, and today's runs of a team (§4.8 rules 1-9).
import type { Clock } from '../../domain/clock.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import { notFound } from '../../domain/errors.ts';
import { type RunSource, UNASSIGNED_TEAM } from '../../domain/sessions/office.ts';
import { dayStartQuarter, QUARTER_MS, quarterOf } from '../../domain/time-zone.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { QuarterUsage } from '../../store/office/last-hour.ts';
import type { OfficeRun } from '../../store/office/office-runs.ts';
import type { OfficeSnapshot } from '../../store/office/snapshot.ts';
import type { TodayPage } from '../../store/office/today.ts';
import type { Store } from '../../store/open-store.ts';

/** The viewer, and the time of the view. */
export interface Glance {
  readonly caller: Administrator;
  readonly at: number;
}

/** `timeZone` determines which day is today. */
export interface SnapshotQuery {
  readonly limit: number;
  readonly timeZone: string;
}

export interface FloorSnapshot extends OfficeSnapshot, Glance {
  /** The start of today. */
  readonly dayStart: number;
}

/** `source` null: any source. `page` counts from 1. */
export interface TodayQuery {
  readonly source: RunSource | null;
  readonly timeZone: string;
  readonly limit: number;
  readonly page: number;
}

export interface TodayRuns extends TodayPage, Glance {
  readonly teamId: string;
}

export interface LiveRuns extends Listing<OfficeRun>, Glance {}

/** Usage by quarters of an hour; the first of them may have begun before the hour. */
export interface LastHour {
  readonly at: number;
  readonly quarters: readonly QuarterUsage[];
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
      return { ...(await store.office.getSnapshot({ limit, since })), caller, at, dayStart: since * QUARTER_MS };
    },

    listLiveRuns: async (caller: Administrator, page: Page): Promise<LiveRuns> => ({
      ...(await store.office.listLiveRuns(page)),
      caller,
      at: clock.now(),
    }),

    getLastHour: async (_caller: Administrator): Promise<LastHour> => {
      const at = clock.now();
      const span = { first: quarterOf(at - HOUR_MS), last: quarterOf(at) };
      return { at, quarters: await store.office.listQuarters(span) };
    },

    /** Throws `not_found` for an unknown team (G11). */
    listTodayRuns: async (caller: Administrator, teamId: string, query: TodayQuery): Promise<TodayRuns> => {
      const { source, limit, page, timeZone } = query;
      const team = teamId === UNASSIGNED_TEAM.id ? null : teamId.toLowerCase();
      if (team !== null && !(await store.office.hasTeam(team))) throw notFound('Team');
      const at = clock.now();
      const since = dayStartQuarter(at, timeZone);
      const found = await store.office.listToday({
        team,
        source,
        since,
        limit,
        offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER),
      });
      return { ...found, caller, at, teamId: team ?? teamId };
    },
  };
}
