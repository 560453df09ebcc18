// Which sessions runs begin in, for whoever looks at what is of no use to any.

/** Sessions of which a run has begun here since its beginning. */
export interface BegunWatch {
  has(sessionSeq: number): boolean;
  end(): void;
}

/** Makes what tells the watches. Without any, it costs nothing. */
export function makeBegun() {
  const watches = new Set<Set<number>>();
  return {
    note: (sessionSeq: number): void => {
      for (const watch of watches) watch.add(sessionSeq);
    },
    watch: (): BegunWatch => {
      const begun = new Set<number>();
      watches.add(begun);
      return { has: (sessionSeq) => begun.has(sessionSeq), end: () => void watches.delete(begun) };
    },
  };
}

/** Works with a watch that ends with the work. */
export async function watching<Result>(
  watch: () => BegunWatch,
  work: (begun: BegunWatch) => Promise<Result>,
): Promise<Result> {
  const begun = watch();
  try {
    return await work(begun);
  } finally {
    begun.end();
  }
}
