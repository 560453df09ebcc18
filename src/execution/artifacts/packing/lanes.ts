// Work that several may ask for at once and that is done once: a few at a time, and some that wait.

export interface Lanes<T> {
  /** The result of the work of a name, which begins when it is its turn. Undefined when too many wait. */
  join(name: string, work: () => Promise<T>): Promise<T> | undefined;
  /** Resolves when all that was begun has ended. Never rejects. */
  ended(): Promise<unknown>;
}

/** Makes them. Whichever is free first takes what has waited longest. */
export function makeLanes<T>({ atOnce, waiting }: { readonly atOnce: number; readonly waiting: number }): Lanes<T> {
  const known = new Map<string, Promise<T>>();
  const queue: (() => void)[] = [];
  let free = atOnce;

  async function inTurn(work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((begin) => void queue.push(begin));
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    }
  }

  return {
    join: (name, work) => {
      const begun = known.get(name);
      if (begun !== undefined) return begun;
      if (known.size === atOnce + waiting) return undefined;
      const done = inTurn(work).finally(() => void known.delete(name));
      known.set(name, done);
      done.catch(() => undefined);
      return done;
    },
    ended: () => Promise.allSettled(known.values()),
  };
}
