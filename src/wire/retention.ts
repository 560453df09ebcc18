// What is removed by age.
import { array, object } from './composites.ts';
import { boolean, integer, oneOf, string, time } from './scalars.ts';
import { named, nullable, optional, type Static } from './shape.ts';

const count = integer({ from: 0 });

/** Numbers are estimates. `at_least`: counting has ended at its limit. `keep` is null where everything is kept. */
const retentionKind = named(
  'RetentionKind',
  object({
    kind: string,
    unit: oneOf(['days', 'versions']),
    keep: nullable(count),
    before: nullable(time),
    rows: count,
    bytes: count,
    at_least: boolean,
  }),
);
export type RetentionKindWire = Static<typeof retentionKind>;

const progress = {
  held_until: nullable(time),
  pass: nullable(
    object({
      no: count,
      started_at: time,
      ended_at: nullable(time),
      removed: array(object({ kind: string, rows: count })),
    }),
  ),
};
const fields = {
  ...progress,
  kinds: array(retentionKind),
  database: object({ bytes: count, free_bytes: count, shrinks: boolean }),
};

/**
 * What there is to remove, and the pass in progress or the last one. `held_until`: nothing is removed by age before, because
 * the clock has jumped ahead. `shrinks`: free pages go back to the disk while the daemon runs.
 */
export const retentionReport = named('Retention', object(fields));
export type RetentionWire = Static<typeof retentionReport>;

/** How the removal in progress is doing, or how the last one was. */
export const retentionProgress = named('RetentionProgress', object(progress));
export type RetentionProgressWire = Static<typeof retentionProgress>;

/** The same when a removal begins: the pass with this number removes all that is due. */
export const collection = named('Collection', object({ ...fields, pass_no: count }));
export type CollectionWire = Static<typeof collection>;

/**
 * Files that no row names: stored ones, and workspaces of sessions that don't exist. `bytes`: of the stored ones. `examples`: their paths in
 * the data directory. `at_least`: looking has ended at its time limit.
 */
export const orphans = named(
  'Orphans',
  object({ blobs: count, bytes: count, workspaces: count, examples: array(string), at_least: boolean }),
);
export type OrphansWire = Static<typeof orphans>;

/** `trust_clock`: the clock is right, although it has jumped ahead. */
export const collectionWish = object({ trust_clock: optional(boolean) });
