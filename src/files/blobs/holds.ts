// Who holds which blobs, and when one may be removed: no reference may be added between the check of the rows and the removal.

/** Keys that will soon be referred to. */
export interface Held {
  add(key: string): void;
  /** Releases the keys, and returns them. */
  release(): readonly string[];
}

/** All keys, except those that are no longer needed. */
export interface HeldRest {
  /** Keys up to this one, in their order as text, may be removed from now on. */
  passed(key: string): void;
  /** Resolves when the removals that began before have ended. */
  quiet(): Promise<void>;
  release(): void;
}

export interface Holds {
  open(): Held;
  /** Holds every key, also those that are being checked for their removal. */
  openRest(): HeldRest;
  isHeld(key: string): boolean;
  /** Keys that are held by themselves, not with all; one may be there more than once. */
  list(): Iterable<string>;
  /** Removes what is neither held nor in use. Returns false when it is held, or was held during the check. */
  removeUnless(key: string, isInUse: (key: string) => Promise<boolean>): Promise<boolean>;
}

/**
 * `remove` deletes the blob of a key: immediately, or, returning false when it was held before, in a commit that checks the rows once
 * more.
 */
export function makeHolds(remove: (key: string, isHeld: () => boolean) => Promise<boolean>): Holds {
  const removals = new Set<Promise<unknown>>();
  const holds = new Set<Pick<ReadonlySet<string>, 'has'>>();
  const named = new Set<ReadonlySet<string>>();
  /** The newest check of the rows for each key to be removed, unless the key was held since the check started. */
  const looks = new Map<string, object>();
  const isHeld = (key: string) => Array.from(holds).some((held) => held.has(key));

  async function removeUnless(key: string, isInUse: (key: string) => Promise<boolean>): Promise<boolean> {
    const look = {};
    looks.set(key, look);
    try {
      const used = await isInUse(key);
      // A holder during the check may refer to it by now.
      const isHeldSince = () => looks.get(key) !== look;
      if (isHeldSince()) return false;
      return used || (await remove(key, isHeldSince));
    } finally {
      if (looks.get(key) === look) looks.delete(key);
    }
  }

  return {
    isHeld,
    list: function* () {
      for (const held of named) yield* held;
    },
    open: () => {
      const held = new Set<string>();
      holds.add(held);
      named.add(held);
      return {
        add: (key) => {
          held.add(key);
          looks.delete(key);
        },
        release: () => {
          holds.delete(held);
          named.delete(held);
          return [...held];
        },
      };
    },
    openRest: () => {
      let last = '';
      const rest = { has: (key: string) => key > last };
      holds.add(rest);
      looks.clear();
      return {
        passed: (key) => {
          last = key;
        },
        quiet: async () => void (await Promise.allSettled(removals)),
        release: () => void holds.delete(rest),
      };
    },
    removeUnless: async (key, isInUse) => {
      if (isHeld(key)) return false;
      const removal = removeUnless(key, isInUse);
      removals.add(removal);
      return removal.finally(() => removals.delete(removal));
    },
  };
}
