// What is removed, kind by kind: the setting that says how much is kept, and the verb that removes a part.
import type { Settings } from '../domain/settings.ts';
import type { Seal } from '../store/audit/record-entry.ts';
import type { Store } from '../store/open-store.ts';
import type { Batch, Cursor, Removed } from '../store/retention/batch.ts';
import type { Amount } from '../store/retention/estimate.ts';

type Keep = Settings['retention'];

export interface Kind {
  readonly name: string;
  readonly unit: 'days' | 'versions';
  /** How many are kept; 0 keeps everything. */
  keep(settings: Keep): number;
  /**
   * Removes a part in one commit. `bound`: of ages the moment before which things are old, else how many are kept. `from`: the
   * `next` of the commit before.
   */
  remove(bound: number, batch: Batch, from?: Cursor): Promise<Removed>;
  /** How much there is to remove. */
  count(bound: number): Promise<Amount>;
}

export interface KindParts {
  readonly store: Pick<Store, 'retention'>;
  readonly seal: Seal;
  /** Empties the next workspace that was idle since before a moment. */
  readonly emptyIdle: Kind['remove'];
  readonly upgradeCopies: Pick<Kind, 'remove' | 'count'>;
}

/** The shorter of two ages; 0 is none. */
const shorter = (one: number, other: number) => (one === 0 || other === 0 ? one + other : Math.min(one, other));

/**
 * The kinds, in the order in which they are removed: what takes most room first, and what holds others after them, so that each
 * kind removes what was counted of it.
 */
export function makeKinds({ store: { retention: verbs }, seal, emptyIdle, upgradeCopies }: KindParts): readonly Kind[] {
  const ofEvents = ({ eventsDays, runsDays }: Keep) => shorter(eventsDays, runsDays);
  const age = (name: string, keep: Kind['keep'], { remove, count }: Pick<Kind, 'remove' | 'count'>): Kind => ({
    name,
    unit: 'days',
    keep,
    remove,
    count,
  });
  return [
    age('upgrade_copies', (keep) => keep.upgradeCopiesDays, upgradeCopies),
    age('archives', (keep) => keep.exportsDays, { remove: verbs.archives, count: verbs.countArchives }),
    age('workspaces', (keep) => keep.workspacesIdleDays, { remove: emptyIdle, count: verbs.countIdle }),
    {
      name: 'versions',
      unit: 'versions',
      keep: (keep) => keep.versionsKeep,
      remove: verbs.versions,
      count: verbs.countVersions,
    },
    age('events', ofEvents, { remove: verbs.eventsOfRuns, count: verbs.countEventsOfRuns }),
    age('session_events', ofEvents, { remove: verbs.eventsOfSessions, count: verbs.countEventsOfSessions }),
    age('run_details', (keep) => keep.runsDays, { remove: verbs.detailsOfRuns, count: verbs.countDetailsOfRuns }),
    age('throw_away_sessions', (keep) => keep.throwAwaySessionsDays, {
      remove: verbs.throwAwaySessions,
      count: verbs.countThrowAwaySessions,
    }),
    age('scheduled_sessions', (keep) => keep.scheduledSessionsDays, {
      remove: verbs.scheduledSessions,
      count: verbs.countScheduledSessions,
    }),
    age('firings', (keep) => keep.firingsDays, { remove: verbs.firings, count: verbs.countFirings }),
    age('audit_entries', (keep) => keep.auditDays, {
      remove: (before, batch) => verbs.auditEntries(before, batch, seal),
      count: verbs.countAuditEntries,
    }),
  ];
}
