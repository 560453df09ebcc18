// Objects without the fields that are undefined.

/** The fields that have a value. */
export function defined<T extends object>(fields: T): { readonly [N in keyof T]?: Exclude<T[N], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields;
}
