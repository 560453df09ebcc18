// The WHERE clause of a list with filters.

/** A clause from the conditions that always apply and those whose value is not null, with these values in order. */
export function conditions(
  always: readonly string[],
  filters: Readonly<Record<string, string | number | null>>,
): { readonly where: string; readonly values: readonly (string | number)[] } {
  const given = Object.entries(filters).filter((entry): entry is [string, string | number] => entry[1] !== null);
  return {
    where: `WHERE ${[...always, ...given.map(([condition]) => condition)].join(' AND ')}`,
    values: given.map(([, value]) => value),
  };
}
