// `errand nodes`: the daemons of an installation, and how one is taken out of service.
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { wordsOfDifference } from '../../../domain/nodes/differences.ts';
import { wordsOfClock } from '../../../domain/nodes/node.ts';
import type { NodeWire } from '../../../wire/nodes.ts';
import { duration } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { addNoun, showing } from '../../frame/noun.ts';
import { flag, type Given, option } from '../../frame/options.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';
import { formatDuration } from '../../../terminal/durations.ts';

const COLUMNS: readonly Column<NodeWire>[] = [
  { ...field('name', 9), style: ({ this: isThis }) => (isThis ? 'bold' : undefined) },
  field('id', 8),
  state('state', ({ state: of }) => of, 9),
  column('leads', ({ leader }) => (leader ? 'yes' : ''), 5),
  field('slots', 6),
  field('running', 7),
  field('version', 6),
  field('address', 4),
  field('last_beat_at', 5),
  column('labels', ({ labels }) => labels.join(', '), 3),
];
const ALL: readonly Column<NodeWire>[] = [
  ...COLUMNS,
  field('draining'),
  field('this'),
  field('twice'),
  field('clock_ahead_ms'),
  column('differs', ({ differs }) => differs.join(', ')),
  field('registered_at'),
];

const WAIT = {
  wait: flag('--wait', 'wait until nothing executes there'),
  timeout: option('--timeout <duration>', 'how long --wait waits at most (default: as long as it takes)', duration),
};

const show = showing(ALL);
const POLL_MS = 500;

/** Adds the noun and its verbs. */
export function addNodes(program: Command, io: Io): void {
  const nodes = addNoun<NodeWire, string>(program, io, {
    name: 'nodes',
    summary: 'the daemons of the installation',
    description: 'The nodes: each daemon that shares the database of the installation.',
    one: { name: '<node>', help: 'its name, its id, or the start of that', parse: String },
    show,
  });
  nodes.verb('list', 'List all nodes, online or not.', {}, list).addHelpText('after', STATES);
  nodes.show('Show one node.', (client, ref) => client.nodes.get(ref));
  nodes.on('drain', ABOUT_DRAIN, WAIT, drain).addHelpText('after', EXAMPLES);
  nodes.on('undrain', 'Have a node start runs again.', {}, async (context, ref) =>
    show(context, await context.client().nodes.undrain(ref)),
  );
  nodes.confirmed('remove', 'Remove a node that is offline for good. Asks first. It is online again when it starts.', {
    find: (client, ref) => client.nodes.get(ref),
    question: ({ name, id }) => `Remove the node ${name} (${id})?`,
    work: (client, { id }) => client.nodes.remove(id),
    show: ({ out }, removed) => out.record(removed, [field('id')], removed),
  });
}

const ABOUT_DRAIN =
  'Have a node start no runs, also after a restart. Those that execute there end; it goes on replying to requests, and its /readyz replies 503.';

const STATES = `
States:
  online    it starts runs
  draining  it starts none, and some still execute there
  drained   it starts none, and none execute there
  offline   it was stopped, or has not been heard of for 15 s`;

const EXAMPLES = `
Example:
  errand nodes drain north --wait && ssh north systemctl stop errand`;

/** Versions that aren't that of the node which replies stand out. */
function markingOthers(own: string | undefined): readonly Column<NodeWire>[] {
  const marked: Column<NodeWire> = {
    ...field('version', 6),
    style: ({ version }) => (version === own ? undefined : 'yellow'),
  };
  return COLUMNS.map((one) => (one.name === 'version' ? marked : one));
}

async function list({ client, out }: Context): Promise<void> {
  const found = await client().nodes.list();
  const own = found.items.find(({ this: isThis }) => isThis)?.version;
  out.list(found.items, markingOthers(own), found);
  const online = found.items.filter(({ state: of }) => of !== 'offline');
  const versions = new Set(online.map(({ version }) => version));
  if (versions.size > 1) out.hint(`The nodes that are online have different versions: ${[...versions].join(', ')}.`);
  for (const { name, clock_ahead_ms: ahead } of online) {
    const words = wordsOfClock(ahead);
    if (words !== null) out.hint(`The clock of ${name} is ${words}.`);
  }
  for (const node of online) if (node.differs.length > 0) out.hint(`The node ${wordsOfDifference(node)}.`);
  for (const { name, twice } of online)
    if (twice) out.hint(`Another process has the id of ${name}: a copy of its data directory (errand doctor).`);
}

async function drain(context: Context, ref: string, { wait, timeout }: Given<typeof WAIT>): Promise<void> {
  const drained = await context.client().nodes.drain(ref);
  show(context, wait === true ? await untilDrained(context, drained, timeout) : drained);
}

async function untilDrained({ client, signal }: Context, node: NodeWire, timeout?: number): Promise<NodeWire> {
  const endsAt = timeout === undefined ? Infinity : performance.now() + timeout * 1_000;
  for (let now = node; ; now = await client().nodes.get(node.id)) {
    if (!now.draining) throw new CommandError('conflict', `The node ${now.name} was told to start runs again.`);
    if (now.state === 'drained' || now.state === 'offline') return now;
    if (performance.now() > endsAt)
      throw new CommandError(
        'timedOut',
        `After ${formatDuration(timeout!)}, runs that still execute on ${now.name}: ${now.running}. It goes on draining.`,
      );
    await pause(POLL_MS, undefined, { signal });
  }
}
