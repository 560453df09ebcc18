// What is removed by age, as administrators see it and do it.
import type { Administrator } from '../domain/people/user.ts';
import { orphanPath } from '../files/orphans.ts';
import type { OrphanReport } from '../retention/orphans.ts';
import type { Retention, RetentionProgress, RetentionReport } from '../retention/retention.ts';
import type { Store } from '../store/open-store.ts';
import type { Audit } from './audit/audit.ts';
import { type LeadParts, requireLead } from './lead.ts';

export interface RetentionOperationParts {
  readonly store: Pick<Store, 'retention' | 'peers'>;
  readonly node: LeadParts['node'];
  readonly retention: Pick<Retention, 'collect' | 'report' | 'reportOrphans' | 'progress'>;
  readonly audit: Audit;
}

/** A report, and the number of the pass that removes what is due. */
export interface Collection extends RetentionReport {
  readonly passNo: number;
}

/** The same with the paths of its examples, in the data directory. */
export interface OrphanPaths extends Omit<OrphanReport, 'examples'> {
  readonly examples: readonly string[];
}

/** The verbs. */
export function makeRetentionOperations(parts: RetentionOperationParts) {
  const { store, retention, audit } = parts;
  const requireHere = () => requireLead(parts, 'What is old is removed');
  return {
    /** What would be removed; nothing is. */
    getRetention: (_caller: Administrator): Promise<RetentionReport> => retention.report(),

    /** Files that no row names; none is removed. */
    getOrphans: async (_caller: Administrator): Promise<OrphanPaths> => {
      const { examples, ...counts } = await retention.reportOrphans();
      return { ...counts, examples: examples.map(orphanPath) };
    },

    /** How the removal in progress is doing, or how the last one was. Throws as `requireLead` does. */
    getRetentionProgress: async (_caller: Administrator): Promise<RetentionProgress> => {
      requireHere();
      return retention.progress();
    },

    /** Begins to remove now. With `trustClock`, also what a jump of the clock holds back. Throws as `requireLead` does. */
    collectNow: async (
      caller: Administrator,
      { trustClock }: { readonly trustClock: boolean },
    ): Promise<Collection> => {
      requireHere();
      await audit.act(caller, 'retention.collect', trustClock ? 'trust_clock' : 'now');
      if (trustClock) await store.retention.trustClock();
      const passNo = retention.collect();
      return { ...(await retention.report()), passNo };
    },
  };
}
