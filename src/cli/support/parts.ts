// The parts of a support bundle: what each is, and how it is collected. None has any of a conversation.
import { openSync, closeSync, fstatSync, readSync } from 'node:fs';
import { describeSettings } from '../../config/config.ts';
import { KB } from '../../domain/byte-units.ts';
import type { TimelineWire } from '../../wire/sessions/timeline.ts';
import { checkConfiguration } from '../frame/configuration.ts';
import type { Context } from '../frame/context.ts';
import type { NodeOfOutput } from '../frame/node-of.ts';
import { storeOf } from '../frame/store-of.ts';
import { journalLines, machineFacts, type RunProgram, unitFacts } from './host.ts';

export interface BundleOptions {
  /** The daemon isn't asked. */
  readonly offline: boolean;
  /** The file that the daemon's log is written to; null for the journal. */
  readonly logFile: string | null;
  readonly run: RunProgram;
  /** Whose bundle it is, where there are several. */
  readonly node: NodeOfOutput | null;
}

/** A file of the bundle. `collect` returns text, or what becomes JSON. */
export interface Part {
  readonly name: string;
  readonly about: string;
  collect(context: Context, options: BundleOptions): Promise<unknown>;
}

/** Thrown by a part that can't be collected this way. */
class Unavailable extends Error {}

const LOG_LINES = 2_000;
const LOG_BYTES = 512 * KB;
const FAILED_RUNS = 5;

function online({ client }: Context, { offline }: BundleOptions) {
  if (offline) throw new Unavailable('Only a running daemon knows this, and --offline was given.');
  return client();
}

export const PARTS: readonly Part[] = [
  {
    name: 'version.json',
    about: 'the version of the program',
    collect: async () => ({ version: (await import('../../version.ts')).VERSION, node_version: process.versions.node }),
  },
  {
    name: 'status.json',
    about: 'what "errand status" shows: parts, runs, workers, models, webhooks that fail',
    collect: (context, options) => online(context, options).status(),
  },
  {
    name: 'configuration.json',
    about: 'every setting with its origin, and the problems of the files of the config directory',
    collect: (context, options) =>
      options.offline ? configurationOf(context) : online(context, options).configuration(),
  },
  {
    name: 'database.json',
    about: 'the version of the schema, sizes, rows of each table',
    collect: (context, options) => (options.offline ? databaseOf(context) : online(context, options).database()),
  },
  {
    name: 'queue.json',
    about: 'how many runs wait, and why; without the names of their users',
    collect: async (context, options) => {
      const { items, ...queue } = await online(context, options).queue(50);
      return { ...queue, items: items.map(({ username: _user, key_id: _key, ...entry }) => entry) };
    },
  },
  {
    name: 'failed-runs.json',
    about: 'where the time of the newest failed runs went: spans, models, names of tools; no words of the conversation',
    collect: async (context, options) => failedRuns(context, options),
  },
  {
    name: 'machine.json',
    about: 'system, memory, disk, limits, names of variables',
    collect: async ({ locations, io }) => machineFacts(locations.dataDir, io.environment),
  },
  {
    name: 'unit.txt',
    about: 'the systemd unit with its drop-ins, its state, and what systemd-analyze says of it',
    collect: (_, { run }) => unitFacts(run),
  },
  {
    name: 'log.txt',
    about: `the last ${LOG_LINES} lines of the log; it has names of accounts and addresses of clients`,
    collect: async (_, { logFile, run }) => (logFile === null ? journalLines(run, LOG_LINES) : endOf(logFile)),
  },
];

async function configurationOf(context: Context): Promise<object> {
  const checked = await checkConfiguration(context, new Set());
  return { problems: checked.problems, settings: checked.ok ? describeSettings(checked.config) : null };
}

/** Under the lock of the data directory: the database of a running daemon is the daemon's (K1). */
async function databaseOf(context: Context): Promise<object> {
  const { lockDataDirectory } = await import('../../store/engine/sqlite/file/lock.ts');
  const { readFigures } = await import('../../store/inspection/figures.ts');
  const lock = lockDataDirectory(context.locations.dataDir);
  try {
    return await readFigures(await storeOf(context));
  } finally {
    lock.release();
  }
}

async function failedRuns(context: Context, options: BundleOptions): Promise<object[]> {
  const { runs } = online(context, options);
  const lists = [];
  for (const status of ['failed', 'incomplete'] as const) lists.push(await runs.list({ status, limit: FAILED_RUNS }));
  const found: object[] = [];
  for (const { run_id: id } of lists.flatMap(({ items }) => items)) found.push(withoutPeople(await runs.timeline(id)));
  return found;
}

/** A time line without whose it is, and without the words of its user and its error. */
function withoutPeople({ run, ...timeline }: TimelineWire): object {
  const { username: _name, user_id: _user, key_id: _key, title: _title, error, ...facts } = run;
  return {
    run: { ...facts, error: error === null ? null : { type: error.type, retryable: error.retryable } },
    ...timeline,
  };
}

/** The last lines of a file. */
function endOf(file: string): string {
  const opened = openSync(file, 'r');
  try {
    const { size } = fstatSync(opened);
    const bytes = Buffer.alloc(Math.min(size, LOG_BYTES));
    const count = readSync(opened, bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes.toString('utf8', 0, count).split('\n');
    // Half a line may begin with half a secret, which nothing would recognise.
    return lines.slice(Math.max(size > count ? 1 : 0, lines.length - LOG_LINES)).join('\n');
  } finally {
    closeSync(opened);
  }
}
