// What a tab has read of a list that grows at its end: its newest items, and as much of the past as was asked for. Pure.

/** Items ascending by their numbers. `hasOlder`: the daemon has more before the first. `isAtEnd`: nothing newer was left out. */
export interface Pages<T> {
  readonly items: readonly T[];
  readonly hasOlder: boolean;
  readonly isAtEnd: boolean;
}

/** Items ascending by their numbers, and whether there are older ones. */
export type Page<T> = Pick<Pages<T>, 'items' | 'hasOlder'>;

/** Items are kept up to here; on the way back, the newest give way. */
export const MAX_ITEMS = 500;

/** The pages after the newest one was read. What was read of the past stays where it meets that page. */
export function withNewest<T>(known: Pages<T> | undefined, page: Page<T>, numberOf: (item: T) => number): Pages<T> {
  const first = page.items[0];
  const last = known?.items.at(-1);
  const doMeet =
    known?.isAtEnd === true && first !== undefined && last !== undefined && numberOf(last) >= numberOf(first);
  const before = doMeet ? known.items.filter((item) => numberOf(item) < numberOf(first)) : [];
  if (known === undefined || before.length === 0) return { ...page, isAtEnd: true };
  const items = [...before, ...page.items];
  const surplus = Math.max(0, items.length - MAX_ITEMS);
  return { items: items.slice(surplus), hasOlder: known.hasOlder || surplus > 0, isAtEnd: true };
}

/** The pages with an older one before them. */
export function withOlder<T>(known: Pages<T>, page: Page<T>): Pages<T> {
  const items = [...page.items, ...known.items];
  return {
    items: items.slice(0, MAX_ITEMS),
    hasOlder: page.hasOlder,
    isAtEnd: known.isAtEnd && items.length <= MAX_ITEMS,
  };
}
