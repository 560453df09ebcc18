// `errand status`: the state of the daemon.
import { type Command, Option } from 'commander';
import type { PartWire, StatusWire } from '../../../wire/status.ts';
import { act, type Context } from '../../frame/context.ts';
import { formatDuration } from '../../frame/durations.ts';
import { duration } from '../../frame/arguments.ts';
import { untilReady } from '../../frame/until-ready.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import type { Column } from '../../terminal/columns.ts';
import type { Style } from '../../../terminal/colours.ts';

const PART_STYLES: Readonly<Record<PartWire['state'], Style>> = { ok: 'green', degraded: 'yellow', failed: 'red' };

const SUMMARY: readonly Column<StatusWire>[] = [
  { name: 'ready', value: ({ ready }) => ready, style: ({ ready }) => (ready ? 'green' : 'red') },
  { name: 'version', value: ({ version, node_version: node }) => `${version} on Node ${node.replace(/^v/, '')}` },
  { name: 'process', value: ({ pid, uptime_seconds: uptime }) => `${pid}, up ${formatDuration(uptime)}` },
  { name: 'listen', value: ({ listen }) => listen },
  { name: 'public_url', value: ({ public_url: url }) => url },
  { name: 'data_dir', value: ({ data_dir: directory }) => directory },
  { name: 'config_dir', value: ({ config_dir: directory }) => directory },
  {
    name: 'runs',
    value: ({ runs: { queued, running, waiting, finalizing } }) =>
      `${queued} queued, ${running} running, ${waiting} waiting for their user, ${finalizing} finalizing`,
  },
  {
    name: 'workers',
    value: ({ workers: { threads, slots, busy } }) =>
      `${busy} of ${slots} slots busy, ${threads} ${threads === 1 ? 'thread' : 'threads'}`,
  },
];

/** Adds the command. */
export function addStatus(program: Command, io: Io): void {
  program
    .command('status')
    .summary('the state of the daemon')
    .description('Show the state of the daemon: its parts, runs, workers and models.')
    .option('--check', 'exit with 8 unless every part is ok')
    .option('--wait', 'wait until the daemon is ready; exit with 7 if it takes too long')
    .addOption(new Option('--timeout <duration>', 'how long --wait waits').argParser(duration).default(60, '60s'))
    .addHelpText('after', EXAMPLES)
    .action(act(io, showStatus));
}

const EXAMPLES = `
Examples:
  errand status --check || systemctl restart errand
  errand serve & errand status --wait --timeout 30s`;

interface Options {
  readonly check?: true;
  readonly wait?: true;
  /** Seconds. */
  readonly timeout: number;
}

async function showStatus(context: Context, { check, wait, timeout }: Options): Promise<void> {
  const { client, out } = context;
  const status = await (wait ? untilReady(context, timeout) : client().status());
  out.record(status, [...SUMMARY, ...partColumns(status), ...nodeColumns(status), ...modelColumns(status)], status);
  const unhealthy = status.parts.filter(({ state }) => state !== 'ok');
  if (status.ready && unhealthy.length === 0) return;
  const names = unhealthy.map(({ name, state }) => `${name} ${state}`).join(', ') || 'it is not ready';
  if (check) throw new CommandError('checkFailed', `The daemon has problems: ${names}.`);
  out.hint(`The daemon has problems: ${names}.`);
}

function partColumns({ parts }: StatusWire): readonly Column<StatusWire>[] {
  return parts.map(({ name, state, detail }) => ({
    name: `part_${name}`,
    value: () => (detail === null ? state : `${state}: ${detail}`),
    style: () => PART_STYLES[state],
  }));
}

function nodeColumns({ nodes }: StatusWire): readonly Column<StatusWire>[] {
  return nodes.map(({ id, capacity, online }) => ({
    name: `node_${id}`,
    value: () => `${online ? 'online' : 'offline'}, ${capacity} slots`,
  }));
}

function modelColumns({ models }: StatusWire): readonly Column<StatusWire>[] {
  return models.map((model) => ({
    name: `model_${model.name}`,
    value: () => `${model.kind} at ${model.endpoint}${model.default ? ' (default)' : ''}`,
  }));
}
