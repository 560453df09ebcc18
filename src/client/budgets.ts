// The client's verbs on budgets.
import { budgets } from '../wire/people/budget.ts';
import { namingWhat } from './named-not-found.ts';
import type { CallManagement } from './references.ts';
import { type Complete, type Verbs, verbsOf } from './verbs.ts';

/** Every id may be the start of one; `ref` is a key's id, or the name or id of a user or a team. */
export type Budgets = Verbs<typeof budgets>;

const NOUNS = { user: 'users', team: 'teams' } as const;

export function makeBudgets(call: CallManagement, complete: Complete): Budgets {
  const verbs = verbsOf(budgets, call, complete);

  async function withWholeRef<
    A extends { readonly subject?: string | undefined; readonly ref?: string | null | undefined },
  >(asked: A): Promise<A> {
    const { subject, ref } = asked;
    if (typeof ref !== 'string' || (subject !== 'user' && subject !== 'team')) return asked;
    return { ...asked, ref: await complete(NOUNS[subject], ref) };
  }

  /** An error says which of them isn't there. */
  async function naming<T>({ ref }: { readonly ref?: string | null | undefined }, asking: Promise<T>): Promise<T> {
    return asking.catch((error: unknown) => {
      throw namingWhat(error, typeof ref === 'string' ? [{ reference: ref }] : []);
    });
  }

  return {
    ...verbs,
    list: async (query = {}) => naming(query, withWholeRef(query).then(verbs.list)),
    set: async (wanted) => naming(wanted, withWholeRef(wanted).then(verbs.set)),
  };
}
