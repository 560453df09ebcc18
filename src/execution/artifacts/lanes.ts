// Work that several may ask for at once and that is done once: a few at a time, and some that wait.

export interface Lanes<T> {
  /** The result of the work of a name, which begins when it is its turn. Undefined when too many wait. */
  join(name: string, work: () => Promise<T>): Promise<T> | undefined;
  /** Resolves when all that was begun has ended. Never rejects. */
  ended(): Promise<unknown>;
}

/** Makes them. */
export function makeLanes<T>({ atOnce, waiting }: { readonly atOnce: number; readonly waiting: number }): Lanes<T> {
  const lanes: Promise<unknown>[] = Array.from({ length: atOnce }, () => Promise.resolve());
  const known = new Map<string, Promise<T>>();
  let turn = 0;
  return {
    join: (name, work) => {
      const begun = known.get(name);
      if (begun !== undefined) return begun;
      if (known.size === atOnce + waiting) return undefined;
      turn = (turn + 1) % atOnce;
      const done = lanes[turn]!.then(work).finally(() => void known.delete(name));
      lanes[turn] = done.catch(() => undefined);
      known.set(name, done);
      return done;
    },
    ended: () => Promise.all(lanes),
  };
}
