// Finds the name that was probably meant.

/** How many letters must be inserted, removed, replaced or swapped with their neighbour to make one word the other. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      const swapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (i > 1 && j > 1 && swapped) cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length] ?? 0;
}

const LONGEST_NAME = 64;

/** The known name that a mistyped one is closest to; undefined when none is close (a third of its letters, at least one). */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  // The table grows with the product of the lengths, and a name can come from a file of up to a megabyte.
  if (name.length > LONGEST_NAME) return undefined;
  let best: { readonly name: string; readonly cost: number } | undefined;
  for (const candidate of known) {
    if (candidate.length > LONGEST_NAME) continue;
    const cost = distance(name.toLowerCase(), candidate.toLowerCase());
    if (cost <= Math.max(1, Math.floor(name.length / 3)) && (best === undefined || cost < best.cost)) {
      best = { name: candidate, cost };
    }
  }
  return best?.name;
}

/** ` (did you mean "x"?)` when a known name is close, else nothing: the end of a problem's message. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : ` (did you mean "${nearest}"?)`;
}
