// Long lists, read a portion at a time, when there is room for it.

/** Rows that are read together. */
export interface Portion<T> {
  /** About how many bytes they have as they are stored. */
  readonly bytes: number;
  read(): Promise<readonly T[]>;
}

/** A list of any length, in order. */
export type Portions<T> = AsyncIterable<Portion<T>>;

/** A whole list, and how many rows it had when it was begun. */
export interface LongListing<T> {
  readonly items: Portions<T>;
  readonly total: number;
}

/** Rows of a list that are read together, where each has a few hundred bytes. */
export const PORTION_ROWS = 250;

/** What a portion of rows that vary in size may have, in bytes, unless its only row has more. */
export const PORTION_BYTES = 262_144;

/** The portions of a list of small rows. `next`: up to `perPortion` rows after the given one, from the first if there is none. */
export async function* portionsOf<T>(
  next: (last: T | undefined) => Promise<readonly T[]>,
  perPortion = PORTION_ROWS,
): Portions<T> {
  let last: T | undefined;
  for (let isLast = false; !isLast; ) {
    yield {
      bytes: PORTION_BYTES,
      read: async () => {
        const rows = await next(last);
        isLast = rows.length < perPortion;
        last = rows.at(-1);
        return rows;
      },
    };
  }
}

/** The rows of all portions. */
export async function* rowsOf<T>(portions: Portions<T>): AsyncIterable<T> {
  for await (const portion of portions) yield* await portion.read();
}
