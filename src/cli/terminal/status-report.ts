// What `errand status` shows: for people in groups, with what is wrong first; for programs a line per field.
import { type Column, column } from '../../terminal/columns.ts';
import { formatDuration } from '../../terminal/durations.ts';
import type { Group } from '../../terminal/table.ts';
import type { PartWire, StatusWire } from '../../wire/status.ts';
import type { Report } from '../frame/output.ts';

type StatusColumn = Column<StatusWire>;

const VERSION = column<StatusWire>(
  'version',
  ({ version, node_version: node }) => `${version} on Node ${node.replace(/^v/, '')}`,
);
const PROCESS = column<StatusWire>(
  'process',
  ({ pid, uptime_seconds: uptime }) => `${pid}, up ${formatDuration(uptime)}`,
);
const NODE = column<StatusWire>('node', ({ node }) => node.name);
const PLACES: readonly StatusColumn[] = [
  column('listen', ({ listen }) => listen),
  column('public_url', ({ public_url: url }) => url),
  column('data_dir', ({ data_dir: directory }) => directory),
  column('config_dir', ({ config_dir: directory }) => directory),
];
const WORK: readonly StatusColumn[] = [
  column('runs', runsText),
  column('workers', workersText),
  column('webhooks', ({ webhooks: { failing, disabled } }) => `${failing} failing, ${disabled} disabled by the daemon`),
];

/** How many runs are in which state. */
export function runsText({ runs: { queued, running, waiting, finalizing } }: StatusWire): string {
  return `${queued} queued, ${running} running, ${waiting} waiting for their user, ${finalizing} finalizing`;
}

/** How many slots are busy. */
export function workersText({ workers: { threads, slots, busy } }: StatusWire): string {
  return `${busy} of ${slots} slots busy, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
}

/** The parts of the daemon that are not ok. */
export function problemsIn({ parts }: StatusWire): readonly PartWire[] {
  return parts.filter(({ state }) => state !== 'ok');
}

/** The first line: how the daemon is doing. */
export function headlineOf(status: StatusWire): Group<StatusWire> {
  const words = status.ready
    ? `ready, version ${status.version}, up ${formatDuration(status.uptime_seconds)}`
    : 'not ready';
  const state = status.ready ? 'ok' : 'failed';
  return { heading: null, columns: [{ name: 'errand', value: () => words, state: () => state }] };
}

/** What is wrong, a line per part. */
export function problemGroupOf(status: StatusWire): Group<StatusWire> {
  return { heading: 'Problems', columns: problemsIn(status).map((part) => partColumn(part, part.name)) };
}

/** The whole report. */
export function statusReport(status: StatusWire): Report<StatusWire> {
  const healthy = status.parts.filter(({ state }) => state === 'ok');
  return {
    groups: [
      headlineOf(status),
      problemGroupOf(status),
      { heading: 'Work', columns: WORK },
      { heading: 'Webhooks that need you', columns: webhookColumns(status) },
      { heading: 'Models', columns: status.models.map((model) => modelColumn(model, model.name)) },
      { heading: 'Parts', columns: healthy.map((part) => partColumn(part, part.name)) },
      { heading: 'Nodes', columns: nodeColumns(status) },
      { heading: 'Daemon', columns: [NODE, VERSION, PROCESS, ...PLACES] },
    ],
    columns: [
      { ...column('ready', ({ ready }) => ready), style: ({ ready }) => (ready ? 'green' : 'red') },
      NODE,
      column('node_id', ({ node }) => node.id),
      VERSION,
      PROCESS,
      ...PLACES,
      ...WORK,
      ...status.parts.map((part) => partColumn(part, `part_${part.name}`)),
      ...status.webhooks.troubled.map((webhook) => webhookColumn(webhook, `webhook_${webhook.id}`)),
      ...status.nodes.map((node) => nodeColumn(node, `node_${node.id}`)),
      ...status.models.map((model) => modelColumn(model, `model_${model.name}`)),
    ],
    document: status,
  };
}

function partColumn({ state, detail }: PartWire, name: string): StatusColumn {
  return { ...column(name, () => (detail === null ? state : `${state}: ${detail}`)), state: () => state };
}

/** A line per node that is online, and how many are offline. */
function nodeColumns({ nodes }: StatusWire): StatusColumn[] {
  const online = nodes.filter((node) => node.online);
  const lines = online.map((node) => ({ ...nodeColumn(node, node.name), state: () => node.state }));
  const offline = nodes.length - online.length;
  return offline === 0 ? lines : [...lines, column('offline', () => `${offline} (errand nodes list)`)];
}

function nodeColumn({ state, capacity }: StatusWire['nodes'][number], name: string): StatusColumn {
  return column(name, () => `${state}, ${capacity} slots`);
}

function modelColumn(model: StatusWire['models'][number], name: string): StatusColumn {
  return column(name, () => `${model.kind} at ${model.endpoint}${model.default ? ' (default)' : ''}`);
}

type TroubledWebhook = StatusWire['webhooks']['troubled'][number];

/** A line per webhook, and how many more there are. */
function webhookColumns({ webhooks: { failing, disabled, troubled } }: StatusWire): StatusColumn[] {
  const more = failing + disabled - troubled.length;
  const lines = troubled.map((webhook) => webhookColumn(webhook, `webhook ${webhook.id}`));
  return more > 0 ? [...lines, column('and more', () => `${more} webhooks`)] : lines;
}

function webhookColumn(webhook: TroubledWebhook, name: string): StatusColumn {
  const { name: title, failures, failing_since: since, disabled_reason: reason } = webhook;
  const words = reason === null ? `failing since ${since}, ${failures} attempts` : `disabled: ${reason}`;
  return { ...column(name, () => `${title}, ${words}`), state: () => (reason === null ? 'degraded' : 'failed') };
}
