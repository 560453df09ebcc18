// The client's verbs on budgets.
import type { ListWire } from '../wire/listing.ts';
import type { BudgetWire, budgetQuery, WantedBudgetWire } from '../wire/people/budget.ts';
import type { CallManagement, References } from './references.ts';
import { type Query, queryOf } from './transport/query.ts';

/** Every id may be the start of one; `ref` is a key's id, or the name or id of a user or a team. */
export interface Budgets {
  list(query: Query<typeof budgetQuery>): Promise<ListWire<BudgetWire>>;
  get(id: string): Promise<BudgetWire>;
  /** In place of the one that the subject has for the unit and the period. */
  set(wanted: WantedBudgetWire): Promise<BudgetWire>;
  /** Returns it as it was. */
  remove(id: string): Promise<BudgetWire>;
}

/** What is used may have to be counted in a long ledger. */
const SET_TIMEOUT_MS = 300_000;

export function makeBudgets(call: CallManagement, { at, whole }: References): Budgets {
  const nouns = { user: 'users', team: 'teams' } as const;
  async function refOf<R extends string | null | undefined>(subject: string | undefined, ref: R): Promise<R> {
    return subject === 'user' || subject === 'team' ? whole(nouns[subject], ref) : ref;
  }
  return {
    list: async (query) => call('GET', `/budgets${queryOf({ ...query, ref: await refOf(query.subject, query.ref) })}`),
    get: async (id) => call('GET', await at('budgets', id)),
    set: async (wanted) =>
      call('PUT', '/budgets', { ...wanted, ref: (await refOf(wanted.subject, wanted.ref)) ?? null }, SET_TIMEOUT_MS),
    remove: async (id) => call('DELETE', await at('budgets', id)),
  };
}
