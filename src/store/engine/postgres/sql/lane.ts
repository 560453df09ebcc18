// The lane of a run, which is a column of its own on SQLite: background work queues by it.

/** Its expression, of the columns of a table with this prefix. */
export const LANE = (prefix: string) => `coalesce(${prefix}key_seq, -${prefix}user_seq)`;
