// The larger of two values in SQL. SQLite's `max` of two has other names elsewhere.

/** Neither value may be null. A parameter is bound twice. */
export function larger(one: string, other: string): string {
  return `CASE WHEN ${one} < ${other} THEN ${other} ELSE ${one} END`;
}
