// Ids as people copy them: the shortest prefix that is unique.

/**
 * Minimum length. An id begins with its time in milliseconds, in 13 characters including a hyphen; this also distinguishes it
 * from nearly all ids outside the list.
 */
const MIN_SHOWN = 13;

/** For each id, the shortest prefix that no other id has. */
export function shortIds(ids: Iterable<string>): ReadonlyMap<string, string> {
  const sorted = [...new Set(ids)].sort();
  return new Map(
    sorted.map((id, at) => {
      const shared = Math.max(sharedLength(id, sorted[at - 1] ?? ''), sharedLength(id, sorted[at + 1] ?? ''));
      const length = Math.max(MIN_SHOWN, shared + 1);
      // A prefix that ends in a hyphen looks like a broken word.
      return [id, id.slice(0, id[length - 1] === '-' ? length + 1 : length)];
    }),
  );
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
