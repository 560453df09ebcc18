// Work on many keys, some at once.

/** Requests of one call that are under way at once. */
const AT_ONCE = 8;

/** Works on all. Rejects with the first failure once nothing is under way any more. */
export async function eachOf<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const failures: unknown[] = [];
  const workers = Array.from({ length: AT_ONCE }, async () => {
    try {
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
        if (failures.length > 0) return;
        await work(next.value);
      }
    } catch (error) {
      failures.push(error);
    }
  });
  await Promise.all(workers);
  if (failures.length > 0) throw failures[0];
}
