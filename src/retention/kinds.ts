// What is removed by age, kind by kind: the setting that says when, and the verb that removes a part.
import type { Settings } from '../domain/settings.ts';
import type { Seal } from '../store/audit/record-entry.ts';
import type { Store } from '../store/open-store.ts';
import type { Batch, Removed } from '../store/retention/batch.ts';
import type { Amount } from '../store/retention/estimate.ts';

export interface Kind {
  readonly name: string;
  /** Null keeps everything. */
  days(settings: Pick<Settings, 'retention'>): number | null;
  /** Removes a part of what is older than a moment, in one commit. */
  remove(before: number, batch: Batch): Promise<Removed>;
  /** How much is older than a moment. */
  count(before: number): Promise<Amount>;
}

export interface KindParts {
  readonly store: Pick<Store, 'retention'>;
  readonly seal: Seal;
}

/** 0 keeps. */
const daysOf = (days: number): number | null => (days === 0 ? null : days);

/** The shorter of two ages; 0 is none. */
const shorter = (one: number, other: number): number | null =>
  daysOf(one === 0 || other === 0 ? one + other : Math.min(one, other));

/** The kinds, in the order in which they are removed: what takes most room first. */
export function makeKinds({ store: { retention }, seal }: KindParts): readonly Kind[] {
  const ofEvents: Kind['days'] = ({ retention: { eventsDays, runsDays } }) => shorter(eventsDays, runsDays);
  return [
    { name: 'events', days: ofEvents, remove: retention.eventsOfRuns, count: retention.countEventsOfRuns },
    {
      name: 'session_events',
      days: ofEvents,
      remove: retention.eventsOfSessions,
      count: retention.countEventsOfSessions,
    },
    {
      name: 'run_details',
      days: (settings) => daysOf(settings.retention.runsDays),
      remove: retention.detailsOfRuns,
      count: retention.countDetailsOfRuns,
    },
    {
      name: 'audit_entries',
      days: (settings) => daysOf(settings.retention.auditDays),
      remove: (before, batch) => retention.auditEntries(before, batch, seal),
      count: retention.countAuditEntries,
    },
  ];
}
