// `errand store copy`: the rows of a stopped daemon in another database.
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { storeMarkerOf } from '../../../files/store-marker.ts';
import { nameOfStore, type StoreLocation } from '../../../store/location.ts';
import type { ComparedTable } from '../../../store/copies/rows/compare-rows.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { fileIn, storeLocationOf } from '../../../config/store-location.ts';
import { makeProgressBar } from '../../terminal/progress.ts';
import { notEmpty } from '../../frame/arguments.ts';
import { requireConfiguration } from '../../frame/configuration.ts';
import type { Context } from '../../frame/context.ts';
import { databaseAt, databaseInFile } from '../../frame/database-location.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { namedStore } from '../../frame/named-store.ts';
import { type Given, option, perform } from '../../frame/options.ts';

const COPY = {
  to: option('--to <database>', 'where to: postgres://… of an empty database, or a file that is made', notEmpty),
  toFile: option('--to-file <file>', 'a file whose one line is that address, when it has a password', notEmpty),
  from: option('--from <database>', 'where from: postgres://… or a file (default: as in the settings)', notEmpty),
};

const ROWS: readonly Column<ComparedTable>[] = [
  field('table', 9),
  column('rows', ({ source }) => source.rows, 8),
  column('sha256', ({ source }) => source.sha256, 3),
];

/** Adds the noun and its verb. */
export function addStore(program: Command, io: Io): void {
  const store = program
    .command('store')
    .summary('move the database')
    .description('Where rows are kept: in a SQLite file, or in a PostgreSQL database.');
  perform(store.command('copy'), io, COPY, copy)
    .description(
      'Copy all rows of a stopped daemon to an empty database: from SQLite to PostgreSQL, or back. The source stays as it is. In the end, ' +
        'the rows of both are compared.',
    )
    .addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
An interrupted copy is continued by the same command. Files of sessions stay in the data directory.

Examples:
  errand store copy --to-file /etc/errand/database
  errand store copy --to 'postgres://errand@db.example.com/errand?sslmode=verify-full'
  errand store copy --to /var/lib/errand/errand.db`;

async function copy(context: Context, { to, toFile, from }: Given<typeof COPY>): Promise<void> {
  const { io, out, locations, signal } = context;
  const { dataDir } = locations;
  const target = targetOf(to, toFile);
  const source = from === undefined ? await sourceOf(context) : databaseAt(from, '--from');
  const { copyStore } = await import('../../../store/copies/copy-store.ts');
  const bar = makeProgressBar(io);
  try {
    const compared = await copyStore({ from: source, to: target, dataDir, progress: bar.show, signal });
    bar.end();
    const filled = compared.filter((table) => table.source.rows > 0);
    const items = compared.map(({ table, source: { rows, sha256 } }) => ({ table, rows, sha256 }));
    out.list(filled, ROWS, { from: nameOfStore(source), to: nameOfStore(target), tables: items });
    if (target.kind === 'sqlite' && target.file === fileIn(dataDir)) rmSync(storeMarkerOf(dataDir), { force: true });
    hintNext(context, source, target);
  } finally {
    bar.end();
  }
}

function targetOf(to: string | undefined, toFile: string | undefined): StoreLocation {
  if (to !== undefined && toFile === undefined) return databaseAt(to, '--to');
  if (to === undefined && toFile !== undefined) return databaseInFile(toFile, '--to-file');
  throw new CommandError('usage', 'Give either --to or --to-file.');
}

async function sourceOf(context: Context): Promise<StoreLocation> {
  return storeLocationOf((await requireConfiguration(context)).config);
}

function hintNext({ io, out, locations }: Context, from: StoreLocation, to: StoreLocation): void {
  const { dataDir, configDir } = locations;
  const settings = join(configDir, 'errand.yaml');
  const own = fileIn(dataDir);
  if (nameOfStore(to) === namedStore({ dataDir, configDir }, io.environment)) out.hint('Next: start the daemon.');
  else if (to.kind === 'postgres')
    out.hint(`Next: name it as database or database_file in ${settings}, and start the daemon.`);
  else if (to.file === own) out.hint(`Next: remove database and database_file from ${settings}, and start the daemon.`);
  out.hint(`${nameOfStore(from)} is as it was. Keep it until the daemon has run well with the copy.`);
}
