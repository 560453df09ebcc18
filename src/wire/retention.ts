// What is removed by age.
import { array, object } from './shapes/composites.ts';
import { endpoints } from './endpoint.ts';
import { called, made, record, request } from './shapes/record.ts';
import { boolean, integer, oneOf, string, time } from './shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse } from './shapes/shape.ts';

const count = integer({ from: 0 });

/** Numbers are estimates. `at_least`: counting has ended at its limit. `keep` is null where everything is kept. */
const retentionKind = named(
  'RetentionKind',
  record({
    name: called('kind', string),
    unit: oneOf(['days', 'versions']),
    keep: nullable(count),
    before: nullable(time),
    rows: count,
    bytes: count,
    isAtLeast: called('at_least', boolean),
  }),
);
export type RetentionKindWire = JsonOf<typeof retentionKind>;

interface Removing {
  /** Rows by kind. */
  readonly removed: Readonly<Record<string, number>>;
}

const pass = record({
  no: count,
  startedAt: time,
  endedAt: nullable(time),
  removed: made(array(object({ kind: string, rows: count })), ({ removed }: Removing) =>
    Object.entries(removed).map(([kind, rows]) => ({ kind, rows })),
  ),
});

const progress = { heldUntil: nullable(time), pass: nullable(pass) };
const report = {
  ...progress,
  kinds: array(retentionKind),
  database: record({ bytes: count, freeBytes: count, shrinks: boolean }),
};

/**
 * What there is to remove, and the pass in progress or the last one. `held_until`: nothing is removed by age before, because
 * the clock has jumped ahead. `shrinks`: free pages go back to the disk while the daemon runs.
 */
const retentionReport = named('Retention', record(report));
export type RetentionWire = JsonOf<typeof retentionReport>;

/** How the removal in progress is doing, or how the last one was. */
const retentionProgress = named('RetentionProgress', record(progress));
export type RetentionProgressWire = JsonOf<typeof retentionProgress>;

/** The same when a removal begins: the pass with this number removes all that is due. */
const collection = named('Collection', record({ ...report, passNo: count }));
export type CollectionWire = JsonOf<typeof collection>;

/**
 * Files that no row names: stored ones, and workspaces of sessions that don't exist. `bytes`: of the stored ones. `examples`: their paths in
 * the data directory, or `small_blobs` and the key of a row. `at_least`: looking has ended at its time limit.
 */
const orphans = named(
  'Orphans',
  record({
    blobs: count,
    bytes: count,
    workspaces: count,
    examples: array(string),
    isAtLeast: called('at_least', boolean),
  }),
);
export type OrphansWire = JsonOf<typeof orphans>;

/** `trust_clock`: the clock is right, although it has jumped ahead. */
const collectionRequest = request({ trustClock: orElse(boolean, false) });

/** What is removed by age, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const retention = endpoints('admin', 'envelope', {
  get: { route: 'GET /api/v1/retention', summary: 'Estimate what is old enough to be removed', operation: 'getRetention', reply: retentionReport },
  orphans: { route: 'GET /api/v1/retention/orphans', summary: 'Files that no row names', operation: 'getOrphans', reply: orphans },
  progress: { route: 'GET /api/v1/retention/progress', summary: 'How the removal in progress is doing', operation: 'getRetentionProgress', reply: retentionProgress },
  collect: { route: 'POST /api/v1/retention/collect', summary: 'Begin to remove what is old enough', operation: 'collectNow', body: collectionRequest, bodyIsOptional: true, reply: collection },
});
