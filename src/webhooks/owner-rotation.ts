// A queue of webhooks in which owners take turns: one with many webhooks delays those of others by one at a time.

interface Owned {
  readonly owner: number;
}

/** What may start now: how many of the owner's, and how many of a webhook of it. */
export interface Room<Entry> {
  ofOwner(owner: number): number;
  of(entry: Entry): number;
}

export interface OwnerRotation<Entry extends Owned> {
  /** Puts a webhook behind the others of its owner. */
  add(entry: Entry): void;
  remove(entry: Entry): void;
  /** The first for which there is room; its owner goes behind the others. */
  next(room: Room<Entry>): { readonly entry: Entry; readonly room: number } | null;
}

/** Makes an empty queue. */
export function makeOwnerRotation<Entry extends Owned>(): OwnerRotation<Entry> {
  /** In the order of their turns; none is empty. */
  const owners = new Map<number, Set<Entry>>();

  return {
    add: (entry) => {
      const own = owners.get(entry.owner);
      if (own === undefined) owners.set(entry.owner, new Set([entry]));
      else own.add(entry);
    },
    remove: (entry) => {
      const own = owners.get(entry.owner);
      if (own?.delete(entry) && own.size === 0) owners.delete(entry.owner);
    },
    next: (room) => {
      for (const [owner, own] of owners) {
        if (room.ofOwner(owner) <= 0) continue;
        for (const entry of own) {
          const most = room.of(entry);
          if (most <= 0) continue;
          owners.delete(owner);
          owners.set(owner, own);
          return { entry, room: most };
        }
      }
      return null;
    },
  };
}
