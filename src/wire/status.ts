// How the daemon is doing and what it is configured by, for operators and for machines.
import { problem } from './capabilities/definition.ts';
import { lostPins } from './capabilities/pin.ts';
import { array, json, jsonObject, object } from './shapes/composites.ts';
import { endpoints } from './endpoint.ts';
import { type KnownNode, NODE_STATES } from '../domain/nodes/node.ts';
import { called, made, record } from './shapes/record.ts';
import { boolean, constant, integer, oneOf, string, time } from './shapes/scalars.ts';
import { type JsonOf, named, nullable, type Shape } from './shapes/shape.ts';

const count = integer({ from: 0 });

/** One part of the daemon and how it is doing. */
export const part = named(
  'Part',
  record({ name: string, state: oneOf(['ok', 'degraded', 'failed']), detail: nullable(string) }),
);
export type PartWire = JsonOf<typeof part>;

const troubledWebhook = record({
  id: integer(),
  name: string,
  failingSince: nullable(time),
  failures: count,
  disabledReason: nullable(string),
});

/** A node of the installation. `capacity`: runs that it can execute at once. */
const nodeOfStatus = record({
  id: string,
  name: string,
  state: oneOf(NODE_STATES),
  capacity: made(count, ({ slots }: KnownNode) => slots),
  online: made(boolean, ({ state }: KnownNode) => state !== 'offline'),
});

/** What `errand status` shows. */
export const status = named(
  'Status',
  record({
    version: string,
    nodeVersion: string,
    pid: integer(),
    startedAt: time,
    uptimeSeconds: integer({ from: 0 }),
    ready: boolean,
    listen: string,
    publicUrl: string,
    dataDir: string,
    configDir: string,
    parts: array(part),
    runs: object({ queued: count, running: count, waiting: count, finalizing: count }),
    workers: object({ threads: count, slots: count, busy: count }),
    node: record({ id: string, name: string }),
    nodes: array(nodeOfStatus),
    webhooks: record({ failing: count, disabled: count, webhooks: called('troubled', array(troubledWebhook)) }),
    models: array(object({ name: string, endpoint: string, kind: string, default: boolean })),
  }),
);
export type StatusWire = JsonOf<typeof status>;

const settingValue = json as Shape<unknown>;

/** What a daemon is configured by, and what is wrong with its files now. */
export const configuration = named(
  'Configuration',
  record({
    configDir: string,
    problems: array(problem),
    /** By the names in the files now. */
    pins: lostPins,
    settings: array(record({ name: string, value: settingValue, origin: string, source: nullable(string) })),
  }),
);
export type ConfigurationWire = JsonOf<typeof configuration>;

export const readiness = named('Readiness', record({ ready: boolean, parts: array(part) }));

/** The description of all routes. */
const openApiDocument = named('OpenApiDocument', jsonObject) as Shape<unknown> as Shape<object>;

export const health = named('Health', object({ status: constant('ok') }));

/** Figures of the database. `more`: the table has more rows than were counted. */
export const database = named(
  'Database',
  record({
    schemaVersion: count,
    knownVersion: count,
    engine: oneOf(['sqlite', 'postgres']),
    engineVersion: string,
    sqliteVersion: nullable(string),
    sizeBytes: count,
    walBytes: count,
    freePages: count,
    pageSize: count,
    tables: array(record({ name: string, rows: count, more: boolean })),
  }),
);

// biome-ignore format: a table reads best with one endpoint a line
export const frontPage = endpoints('none', 'bare', {
  front: { route: 'GET /', summary: 'Show people what is here', sendsPage: true },
});

export const description = endpoints('none', 'bare', {
  openapi: { route: 'GET /openapi.json', summary: 'This description of the interface', reply: openApiDocument },
});
