// `errand publishes`: pages that agents have made, as everybody with their address reads them.
import type { Command } from 'commander';
import { PAGE_ORIGINS } from '../../../domain/publishing/page.ts';
import { field } from '../../../terminal/columns.ts';
import type { OwnedPageWire } from '../../../wire/publishing/page.ts';
import { notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { PART } from '../../frame/list-options.ts';
import { addNoun, type OptionsFor, showing } from '../../frame/noun.ts';
import { choice, type Given, option, perform, required } from '../../frame/options.ts';
import { PAGE, PAGES, VERSION, VERSIONS } from './columns.ts';
import { entryPath, keyInAddress, PAGE_FIELDS, SOURCE, sourceOf } from './page-options.ts';

const NEW_PAGE = {
  entry_path: required(
    option('--entry <path>', 'the file that is shown first, by its path in the workspace', entryPath),
  ),
  ...SOURCE,
  ...PAGE_FIELDS,
};

const CHANGE = {
  name: option('--name <text>', 'its title', notEmpty),
  entry_path: option('--entry <path>', 'the file that is shown first, from the next version on', entryPath),
  ...PAGE_FIELDS,
} satisfies OptionsFor<'publishes', 'change'>;

const RELEASE = {
  reason: option('--reason <text>', 'why there is a new version', notEmpty),
  entry_path: option('--entry <path>', 'the file that is shown first, from this version on', entryPath),
} satisfies OptionsFor<'publishes', 'release'>;

const FILTERS = {
  origin: choice('--origin <origin>', 'only those whose versions come from this', PAGE_ORIGINS),
  ...PART,
} satisfies OptionsFor<'publishes', 'list'>;

const show = showing(PAGE);

/** Adds the noun and its verbs. */
export function addPublishes(program: Command, io: Io): void {
  const publishes = addNoun<OwnedPageWire, string>(program, io, {
    name: 'publishes',
    summary: 'published pages',
    description: 'Pages that agents have made, published for everybody who has their address.',
    one: { name: '<page>', help: 'its key, its name or its address', parse: keyInAddress },
    show,
    plural: 'pages',
  });

  const create = publishes.command.command('create').argument('<name>', 'the title of the page', notEmpty);
  perform(create, io, NEW_PAGE, createOne)
    .description('Publish a file of a session with its folder, or what a scheduled task will make.')
    .addHelpText('after', CREATE_HELP);
  publishes.list('List pages, the newest first.', FILTERS, PAGES, (client, query) => client.publishes.list(query));
  publishes.show('Show one page.', (client, ref) => client.publishes.get(ref));
  publishes.on('versions', 'List the versions of a page, the newest first.', PART, async ({ client, out }, ref, part) =>
    out.page(await client().publishes.listVersions(ref, part), VERSIONS, 'versions'),
  );
  publishes.on('release', ABOUT_RELEASE, RELEASE, async ({ client, out }, ref, fields) => {
    const version = await client().publishes.release(ref, fields);
    out.record(version, VERSION, version);
  });
  publishes
    .set('Change a page. Other fields stay as they are, and so do its versions.', CHANGE, (client, ref, fields) =>
      client.publishes.change(ref, fields),
    )
    .addHelpText('after', '\nExample:\n  errand publishes set "Tides of March" --board --category Reports --tag sea');
  publishes.confirmed('delete', 'Delete a page with all its versions permanently. Asks first.', {
    find: (client, ref) => client.publishes.get(ref),
    question: ({ name, owner, version_count: count }) =>
      `Delete "${name}" of ${owner.account} with ${count === 1 ? 'its version' : `its ${count} versions`}?`,
    work: (client, { publish_key: key }) => client.publishes.remove(key),
    show: ({ out }, deleted) => out.record(deleted, [field('publish_key')], deleted),
  });
}

const ABOUT_RELEASE = 'Publish the next version: the files as they are after the last run.';

const CREATE_HELP = `
An HTML or Markdown entry is published with its whole folder, any other file alone.

Examples:
  errand publishes create "Tides of March" --session 0190f6a0 --entry /site/index.html
  errand publishes create "Daily report" --schedule report --entry /report.md --board --category Reports`;

async function createOne(context: Context, name: string, given: Given<typeof NEW_PAGE>): Promise<void> {
  const { session: _, schedule: _of, ...fields } = given;
  const { publishes } = context.client();
  const page = await publishes.create({ name, ...fields, ...(await sourceOf(context, given)) });
  show(context, page);
  if (page.latest_share_code === null) context.out.hint('The first version comes with the next run of the task.');
}
