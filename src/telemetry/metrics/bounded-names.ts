// Names as values of labels: each is a time series of its own, so there is a limit on how many.

/** Returns the name, or `other` when there are too many. */
export type BoundedName = (name: string) => string;

/** What stands for all further names. */
export const OTHER = 'other';

/**
 * Admits the first names that are used, up to the limit, for the life of the process: a name that was admitted keeps its
 * series, whatever is renamed or added later.
 */
export function makeBoundedNames(limit = 200): BoundedName {
  const admitted = new Set<string>();
  return (name) => {
    if (admitted.has(name)) return name;
    if (admitted.size >= limit) return OTHER;
    admitted.add(name);
    return name;
  };
}
