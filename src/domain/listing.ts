// Pages of lists.

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Some rows, and how many there are in all. */
export interface Listing<T> {
  readonly items: readonly T[];
  readonly total: number;
}
