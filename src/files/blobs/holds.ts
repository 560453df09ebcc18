// Who holds which blobs, and when one may be removed: nobody may begin to refer to it between a look at the rows and its removal.

/** Keys that somebody is about to refer to. */
export interface Held {
  add(key: string): void;
  /** Lets go, and answers the keys that were held. */
  release(): readonly string[];
}

export interface Holds {
  open(): Held;
  /** Removes what is neither held nor in use. Answers false when it is held, or was held during the look. */
  removeUnless(key: string, isInUse: (key: string) => Promise<boolean>): Promise<boolean>;
}

/** `remove` takes the blob of a key away at once. */
export function makeHolds(remove: (key: string) => void): Holds {
  const holds = new Set<ReadonlySet<string>>();
  /** The newest look at the rows for each key that is to be removed, unless it was held since the look began. */
  const looks = new Map<string, object>();
  return {
    open: () => {
      const held = new Set<string>();
      holds.add(held);
      return {
        add: (key) => {
          held.add(key);
          looks.delete(key);
        },
        release: () => {
          holds.delete(held);
          return [...held];
        },
      };
    },
    removeUnless: async (key, isInUse) => {
      if (Array.from(holds).some((held) => held.has(key))) return false;
      const look = {};
      looks.set(key, look);
      try {
        const used = await isInUse(key);
        // Whoever held it during the look may refer to it by now. From here to the removal nobody comes between.
        if (looks.get(key) !== look) return false;
        if (!used) remove(key);
        return true;
      } finally {
        if (looks.get(key) === look) looks.delete(key);
      }
    },
  };
}
