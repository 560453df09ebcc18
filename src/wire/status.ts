// How the daemon is doing and what it is configured by, for operators and for machines.
import { problem } from './capabilities/definition.ts';
import { lostPins } from './capabilities/pin.ts';
import { array, json, jsonObject, object } from './composites.ts';
import { boolean, constant, integer, oneOf, string, time } from './scalars.ts';
import { named, nullable, type Shape, type Static } from './shape.ts';

const count = integer({ from: 0 });

/** One part of the daemon and how it is doing. */
export const part = named(
  'Part',
  object({ name: string, state: oneOf(['ok', 'degraded', 'failed']), detail: nullable(string) }),
);
export type PartWire = Static<typeof part>;

/** What `errand status` shows. */
export const status = named(
  'Status',
  object({
    version: string,
    node_version: string,
    pid: integer(),
    started_at: time,
    uptime_seconds: integer({ from: 0 }),
    ready: boolean,
    listen: string,
    public_url: string,
    data_dir: string,
    config_dir: string,
    parts: array(part),
    runs: object({ queued: count, running: count, waiting: count, finalizing: count }),
    workers: object({ threads: count, slots: count, busy: count }),
    nodes: array(object({ id: string, capacity: count, online: boolean })),
    webhooks: object({
      failing: count,
      disabled: count,
      troubled: array(
        object({
          id: integer(),
          name: string,
          failing_since: nullable(time),
          failures: count,
          disabled_reason: nullable(string),
        }),
      ),
    }),
    models: array(object({ name: string, endpoint: string, kind: string, default: boolean })),
  }),
);
export type StatusWire = Static<typeof status>;

const settingValue = json as Shape<unknown>;

/** What a daemon is configured by, and what is wrong with its files now. */
export const configuration = named(
  'Configuration',
  object({
    config_dir: string,
    problems: array(problem),
    /** By the names in the files now. */
    pins: lostPins,
    settings: array(object({ name: string, value: settingValue, origin: string, source: nullable(string) })),
  }),
);
export type ConfigurationWire = Static<typeof configuration>;

export const readiness = named('Readiness', object({ ready: boolean, parts: array(part) }));

/** The description of all routes. */
export const openApiDocument = named('OpenApiDocument', jsonObject) as Shape<unknown> as Shape<object>;

export const health = named('Health', object({ status: constant('ok') }));

/** Figures of the database. `more`: the table has more rows than were counted. */
export const database = named(
  'Database',
  object({
    schema_version: count,
    known_version: count,
    sqlite_version: string,
    size_bytes: count,
    wal_bytes: count,
    free_pages: count,
    page_size: count,
    tables: array(object({ name: string, rows: count, more: boolean })),
  }),
);
export type DatabaseWire = Static<typeof database>;
