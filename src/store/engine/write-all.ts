// Verbs whose calls share what they cost: those that come one after another are carried out as one.
import type { Scope, SharedOptions, Verb } from './database.ts';
import type { Step, Transaction } from './statement.ts';

/** Characters that calls of one verb share: the loop turns between more of them. */
const MOST_SHARED = 262_144;

/** Commits, as calls that share one need them. */
interface Commits {
  write<Result>(verb: (tx: Transaction) => Step<Result>, scope: Scope): Promise<Result>;
  /**
   * Adds a call, with its scope, to the verb that was requested last, if that is this one and its commit hasn't begun. Returns whether
   * it did.
   */
  join(verb: (tx: Transaction) => Step<unknown>, scope: Scope): boolean;
}

/** Makes such a verb. */
export function makeWriteAll<Item, Result>(
  commits: Commits,
  verb: (tx: Transaction, items: readonly Item[]) => Step<readonly Result[]>,
  { sizeOf = () => 0, scope: scopeOf = () => 'all' }: SharedOptions<Item>,
): Verb<[item: Item], Result> {
  let items: Item[] = [];
  let size = 0;
  let all = (tx: Transaction) => verb(tx, items);
  let results: Promise<readonly Result[]>;
  return async (item) => {
    const scope = scopeOf(item);
    size += sizeOf(item);
    if (size <= MOST_SHARED && commits.join(all, scope)) items.push(item);
    else {
      size = sizeOf(item);
      const own = (items = [item]);
      all = (tx) => verb(tx, own);
      results = commits.write(all, scope);
    }
    const at = items.length - 1;
    return (await results)[at]!;
  };
}
