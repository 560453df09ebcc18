// Looking up what the config directory defines: a name that was just written is known.

/**
 * Returns what `find` finds in the definitions in effect; where it finds nothing, what it finds once the files have been
 * read again. What comes of that may still be nothing.
 */
export type LookUp = <T>(find: () => T) => Promise<T>;

/** Finds what is in effect, and waits for nothing. */
export const lookUpNow: LookUp = async (find) => find();
