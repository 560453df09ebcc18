// `errand gc`: what is old enough to be removed, and removing it now.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { MB } from '../../../domain/byte-units.ts';
import type {
  CollectionWire,
  OrphansWire,
  RetentionKindWire,
  RetentionProgressWire,
  RetentionWire,
} from '../../../wire/retention.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { storeOf } from '../../frame/store-of.ts';
import { flag, type Given, perform } from '../../frame/options.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

const megabytes = (bytes: number) => (bytes / MB).toFixed(1);

const WHAT_GOES: readonly Column<RetentionKindWire>[] = [
  field('kind', 9),
  column('keep', ({ keep, unit }) => (keep === null ? 'all' : `${keep} ${unit}`), 8),
  column('rows', ({ rows, at_least: more }) => (more ? `${rows}+` : `${rows}`), 7),
  column('mb', ({ bytes }) => megabytes(bytes), 6),
  field('before', 4),
];

interface Removed {
  readonly kind: string;
  readonly rows: number;
}

const WHAT_WENT: readonly Column<Removed>[] = [field('kind', 9), field('rows', 8)];

const SIZES: readonly Column<{ readonly before_bytes: number; readonly after_bytes: number }>[] = [
  column('before_mb', (sizes) => megabytes(sizes.before_bytes)),
  column('after_mb', (sizes) => megabytes(sizes.after_bytes)),
];

/** How often a pass in progress is looked at. */
const POLL_MS = 500;

const OPTIONS = {
  dryRun: flag('--dry-run', 'only say what would be removed, and about how much'),
  trustClock: flag('--trust-clock', 'the clock is right, although it has jumped ahead'),
  vacuum: flag(
    '--vacuum',
    'beside a stopped daemon: shrink the database of an earlier version, which needs room for a copy',
  ),
};

/** Adds the command. */
export function addGc(program: Command, io: Io): void {
  perform(program.command('gc'), io, OPTIONS, collect)
    .summary('remove what is older than the settings keep')
    .description(
      'Remove what is older than the settings "retention" keep, now instead of within the hour, and files of the data directory that ' +
        'belong to nothing. The daemon continues meanwhile.',
    )
    .addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  errand gc --dry-run
  systemctl stop errand && errand gc --vacuum
  errand gc -o json`;

async function collect(context: Context, { dryRun, trustClock, vacuum }: Given<typeof OPTIONS>): Promise<void> {
  if (vacuum) return shrinkDatabase(context);
  const { client, out } = context;
  if (dryRun) return showWhatGoes(context, await client().retention.get(), await client().retention.orphans());
  const begun = await client().retention.collect(trustClock ?? false);
  const ended = await untilRemoved(context, begun);
  const removed = (ended.pass?.removed ?? []).filter(({ rows }) => rows > 0);
  out.list(removed, WHAT_WENT, await client().retention.get());
  if (ended.held_until !== null) throw new CommandError('conflict', heldText(ended.held_until));
  if (removed.length === 0) out.hint('Nothing was old enough.');
}

/** Under the lock of the data directory: the database of a running daemon is the daemon's (K1). */
async function shrinkDatabase(context: Context): Promise<void> {
  const { locations, io, out } = context;
  const store = await storeOf(context);
  if (store.kind === 'postgres') throw new CommandError('usage', NOT_A_FILE, 'psql: VACUUM (FULL);');
  const { lockDataDirectory } = await import('../../../store/engine/sqlite/file/lock.ts');
  const { vacuumFile } = await import('../../../store/engine/sqlite/file/vacuum.ts');
  const lock = lockDataDirectory(locations.dataDir);
  try {
    const report = vacuumFile(store.file, {
      begins: (bytes) => io.terminal.stderr && io.stderr.write(`Writing ${megabytes(bytes)} MB…\n`),
    });
    const sizes = { before_bytes: report.beforeBytes, after_bytes: report.afterBytes };
    out.record(sizes, SIZES, sizes);
  } finally {
    lock.release();
  }
}

const NOT_A_FILE =
  'The database is PostgreSQL, which uses free space again by itself. To give it back, its administrator runs VACUUM (FULL) while the daemon is stopped.';

function showWhatGoes({ out }: Context, report: RetentionWire, orphans: OrphansWire): void {
  out.list(report.kinds, WHAT_GOES, { ...report, orphans });
  hintOrphans(out, orphans);
  const { bytes, free_bytes: free, shrinks } = report.database;
  out.hint(
    `The database has ${megabytes(bytes)} MB, ${megabytes(free)} MB of them free.${shrinks ? '' : CANNOT_SHRINK}`,
  );
  if (report.kinds.every(({ keep }) => keep === null)) out.hint('The settings "retention" keep everything.');
  if (report.held_until !== null) out.hint(heldText(report.held_until));
}

function hintOrphans(
  out: Pick<Context['out'], 'hint'>,
  { blobs, bytes, workspaces, examples, at_least: more }: OrphansWire,
): void {
  if (blobs + workspaces === 0) return;
  const least = more ? 'At least ' : '';
  out.hint(
    `${least}${blobs} stored files (${megabytes(bytes)} MB) and ${workspaces} workspaces that no row names would go as well:`,
  );
  for (const path of examples) out.hint(`  ${path}`);
}

const CANNOT_SHRINK =
  " It was made by an earlier version: free space is used again, but the file doesn't shrink before errand gc --vacuum.";

const heldText = (until: string) =>
  `The clock has jumped ahead, so nothing is removed by age before ${until}. If the clock is right: errand gc --trust-clock`;

/** Waits for the pass that removes what was due, with what it has removed so far on a terminal. */
async function untilRemoved(
  { client, io, signal }: Context,
  { pass_no: no }: CollectionWire,
): Promise<RetentionProgressWire> {
  for (;;) {
    const report = await client().retention.progress();
    const { pass } = report;
    const rows = (pass?.removed ?? []).reduce((sum, one) => sum + one.rows, 0);
    if (io.terminal.stderr) io.stderr.write(`\r${rows} rows removed`);
    if (pass !== null && (pass.no > no || (pass.no === no && pass.ended_at !== null))) {
      if (io.terminal.stderr) io.stderr.write('\r\u001b[K');
      return report;
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}
