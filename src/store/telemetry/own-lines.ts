// Lines of the ledger that this process has written, for who counts what each process has used.

export interface OwnLines {
  /** Call it in the transaction that writes the line. */
  note(seq: number): void;
  has(seq: number): boolean;
  /** Forgets those up to this one. */
  pass(seq: number): void;
}

/** Where nobody counts, the oldest are dropped. */
const MOST = 100_000;

/** All of them, where no other process writes. */
export const EVERY_LINE: OwnLines = { note: () => undefined, has: () => true, pass: () => undefined };

/** Makes them. A number whose transaction was undone is no line's. */
export function makeOwnLines(): OwnLines {
  // In the order of their numbers, as processes write in turns.
  const own = new Set<number>();
  return {
    note: (seq) => {
      own.add(seq);
      if (own.size > MOST) own.delete(own.values().next().value!);
    },
    has: (seq) => own.has(seq),
    pass: (seq) => {
      for (const one of own) {
        if (one > seq) return;
        own.delete(one);
      }
    },
  };
}
