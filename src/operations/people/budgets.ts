// Administration of budgets.
import { type Budget, type BudgetSubject, type BudgetTerms, DEFAULT_TIME_ZONE } from '../../domain/budgets/budget.ts';
import type { Clock } from '../../domain/clock.ts';
import { notFound, unprocessable } from '../../domain/errors.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { PastUse } from '../../store/budgets/past-usage.ts';
import type { Store } from '../../store/open-store.ts';
import { type Audit, itself } from '../audit/audit.ts';

/** A budget to set. `reference` names its key, user or team, and is null for runs; without a time zone it is UTC. */
export interface WantedBudget extends Omit<BudgetTerms, 'timeZone'> {
  readonly reference: string | null;
  readonly timeZone: string | null;
}

/** Null leaves a filter out. */
export interface BudgetQuery extends Page {
  readonly subject: BudgetSubject | null;
  readonly reference: string | null;
}

export interface BudgetParts {
  readonly store: Pick<Store, 'budgets' | 'keys' | 'users' | 'teams'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly clock: Clock;
}

const NOBODY: PastUse['payer'] = { keySeq: null, userSeq: null, teamId: null };

/** The verbs. Each throws `not_found` for an unknown budget, key, user or team, `unprocessable` for a reference too many or too few. */
export function makeBudgetOperations({ store, audit, clock }: BudgetParts) {
  const payers: Readonly<Record<Exclude<BudgetSubject, 'run'>, (reference: string) => Promise<PastUse['payer']>>> = {
    key: async (id) => ({ ...NOBODY, keySeq: (await store.keys.get(id)).seq }),
    user: async (reference) => ({ ...NOBODY, userSeq: (await store.users.get(reference)).seq }),
    team: async (reference) => ({ ...NOBODY, teamId: (await store.teams.get(reference)).id }),
  };

  async function payerOf(subject: BudgetSubject, reference: string | null): Promise<PastUse['payer']> {
    if (subject === 'run') {
      if (reference !== null) throw unprocessable('ref', 'must be left out: a budget of runs is that of each run');
      return NOBODY;
    }
    if (reference === null) throw unprocessable('ref', `must name the ${subject}`);
    return payers[subject](reference);
  }

  return {
    listBudgets: async (_caller: Administrator, query: BudgetQuery): Promise<Listing<Budget>> => {
      const { subject, reference, ...page } = query;
      if (subject === null && reference !== null) throw unprocessable('subject', 'must say what ref names');
      const payer = subject === null || reference === null ? NOBODY : await payerOf(subject, reference);
      return store.budgets.list({ ...page, subject, payer }, clock.now());
    },

    getBudget: async (_caller: Administrator, id: string): Promise<Budget> => {
      const found = await store.budgets.find(id, clock.now());
      if (found === undefined) throw notFound('Budget');
      return found;
    },

    /** Sets the budget of a subject for a unit and a period, new or not. It takes effect at once, and what was used counts. */
    setBudget: async (caller: Administrator, wanted: WantedBudget): Promise<Budget> => {
      const { reference, timeZone, ...terms } = wanted;
      if (terms.subject === 'run' && terms.period !== 'all') {
        throw unprocessable('period', 'must be "all": a run has no days or months');
      }
      const payer = await payerOf(terms.subject, reference);
      const budget = { ...terms, timeZone: timeZone ?? DEFAULT_TIME_ZONE, payer };
      return store.budgets.set(budget, clock.now, audit.change(caller, 'budget.set', itself));
    },

    /** Returns it as it was. */
    removeBudget: async (caller: Administrator, id: string): Promise<Budget> => {
      const note = audit.change(caller, 'budget.remove', (removed: Budget | undefined) => removed && itself(removed));
      const removed = await store.budgets.remove(id, note);
      if (removed === undefined) throw notFound('Budget');
      return removed;
    },
  };
}
