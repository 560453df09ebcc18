// A page of a list.

/** Some rows, and how many there are in all. */
export interface Listing<T> {
  readonly items: readonly T[];
  readonly total: number;
}
