// `errand publishes`: pages that agents have made, as everybody with their address reads them.
import { Argument, type Command, Option } from 'commander';
import { PAGE_ORIGINS, type PageOrigin } from '../../../domain/publishing/page.ts';
import type { OwnedPageWire } from '../../../wire/publishing/page.ts';
import { notEmpty, ROW_LIMIT, ROW_OFFSET } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { field } from '../../../terminal/columns.ts';
import { confirm } from '../../frame/standard-input.ts';
import { PAGE, PAGES, VERSION, VERSIONS } from './columns.ts';
import {
  addFieldOptions,
  addIdentityOptions,
  addSourceOptions,
  entryPath,
  type FieldOptions,
  fieldsOf,
  keyInAddress,
  type SourceOptions,
  sourceOf,
} from './page-options.ts';

const PAGE_ARGUMENT = new Argument('<page>', 'its key, its name or its address').argParser(keyInAddress);

/** Adds the noun and its verbs. */
export function addPublishes(program: Command, io: Io): void {
  const publishes = program
    .command('publishes')
    .summary('published pages')
    .description('Pages that agents have made, published for everybody who has their address.');

  addCreate(publishes, io);
  addReads(publishes, io);
  addChanges(publishes, io);
}

interface CreateOptions extends FieldOptions, SourceOptions {
  readonly entry: string;
}

function addCreate(publishes: Command, io: Io): void {
  const create = publishes
    .command('create')
    .argument('<name>', 'the title of the page', notEmpty)
    .description('Publish a file of a session with its folder, or what a scheduled task will make.')
    .requiredOption('--entry <path>', 'the file that is shown first, by its path in the workspace', entryPath);
  addFieldOptions(addSourceOptions(create))
    .addHelpText('after', CREATE_HELP)
    .action(
      act(io, async (context, name: string, options: CreateOptions) => {
        const fields = { ...fieldsOf(options), name, entry_path: options.entry };
        const { publishes } = context.client();
        const page = await publishes.create({ ...fields, ...(await sourceOf(context, options)) });
        show(context, page);
        if (page.latest_share_code === null) context.out.hint('The first version comes with the next run of the task.');
      }),
    );
}

const CREATE_HELP = `
An HTML or Markdown entry is published with its whole folder, any other file alone.

Examples:
  errand publishes create "Tides of March" --session 0190f6a0 --entry /site/index.html
  errand publishes create "Daily report" --schedule report --entry /report.md --board --category Reports`;

interface PartOptions {
  readonly limit?: number;
  readonly offset?: number;
}

interface ListOptions extends PartOptions {
  readonly origin?: PageOrigin;
}

function addReads(publishes: Command, io: Io): void {
  publishes
    .command('list')
    .description('List pages, the newest first.')
    .addOption(new Option('--origin <origin>', 'only those whose versions come from this').choices(PAGE_ORIGINS))
    .addOption(ROW_LIMIT)
    .addOption(ROW_OFFSET)
    .action(act(io, list));

  publishes
    .command('show')
    .addArgument(PAGE_ARGUMENT)
    .description('Show one page.')
    .action(act(io, async (context, ref: string) => show(context, await context.client().publishes.get(ref))));

  publishes
    .command('versions')
    .addArgument(PAGE_ARGUMENT)
    .description('List the versions of a page, the newest first.')
    .addOption(ROW_LIMIT)
    .addOption(ROW_OFFSET)
    .action(
      act(io, async ({ client, out }, ref: string, part: PartOptions) => {
        const found = await client().publishes.listVersions(ref, part);
        out.page(found, VERSIONS, 'versions');
      }),
    );
}

async function list({ client, out }: Context, options: ListOptions): Promise<void> {
  const found = await client().publishes.list(options);
  out.page(found, PAGES, 'pages');
}

function show({ out }: Context, page: OwnedPageWire): void {
  out.record(page, PAGE, page);
}

interface ReleaseOptions {
  readonly entry?: string;
  readonly reason?: string;
}

function addChanges(publishes: Command, io: Io): void {
  publishes
    .command('release')
    .addArgument(PAGE_ARGUMENT)
    .description('Publish the next version: the files as they are after the last run.')
    .option('--reason <text>', 'why there is a new version', notEmpty)
    .option('--entry <path>', 'the file that is shown first, from this version on', entryPath)
    .action(
      act(io, async ({ client, out }, ref: string, { entry, reason }: ReleaseOptions) => {
        const input = { ...(reason !== undefined && { reason }), ...(entry !== undefined && { entry_path: entry }) };
        const version = await client().publishes.release(ref, input);
        out.record(version, VERSION, version);
      }),
    );

  addFieldOptions(addIdentityOptions(publishes.command('set').addArgument(PAGE_ARGUMENT)))
    .description('Change a page. Other fields stay as they are, and so do its versions.')
    .addHelpText('after', '\nExample:\n  errand publishes set "Tides of March" --board --category Reports --tag sea')
    .action(act(io, set));

  publishes
    .command('delete')
    .addArgument(PAGE_ARGUMENT)
    .description('Delete a page with all its versions permanently. Asks first.')
    .action(act(io, remove));
}

async function set(context: Context, ref: string, options: FieldOptions): Promise<void> {
  const fields = fieldsOf(options);
  if (Object.keys(fields).length === 0) throw new CommandError('usage', 'Give at least one field to change.');
  show(context, await context.client().publishes.change(ref, fields));
}

async function remove(context: Context, ref: string): Promise<void> {
  const { publishes } = context.client();
  const page = await publishes.get(ref);
  const { publish_key: key, version_count: count, owner } = page;
  await confirm(
    context,
    async () =>
      `Delete "${page.name}" of ${owner.account} with ${count === 1 ? 'its version' : `its ${count} versions`}?`,
  );
  const deleted = await publishes.remove(key);
  context.out.record(deleted, [field('publish_key')], deleted);
}
