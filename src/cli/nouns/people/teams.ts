// `errand teams`: groups of people with a budget.
import type { Command } from 'commander';
import type { TeamChangeWire, TeamWire } from '../../../wire/people/team.ts';
import { dollars, notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { fieldTable } from '../../frame/field-table.ts';
import type { Io } from '../../frame/io.ts';
import { addNoun, type OptionsFor, showing } from '../../frame/noun.ts';
import { clearable, type Given, option, perform } from '../../frame/options.ts';

const BUDGET = 'budget in US dollars by day';

const { alone, options } = fieldTable<TeamWire, TeamChangeWire>({
  id: { worth: 3 },
  name: { worth: 9, option: option('--name <name>', 'new name', notEmpty) },
  budget_amount_usd: { worth: 7, option: clearable('--budget <usd>', `${BUDGET}; "none" for no budget`, dollars) },
  created_at: { worth: 2 },
});

const NEW_TEAM = { budget_amount_usd: option('--budget <usd>', BUDGET, dollars) } satisfies OptionsFor<
  'teams',
  'create'
>;
const show = showing(alone);

/** Adds the noun and its verbs. */
export function addTeams(program: Command, io: Io): void {
  const teams = addNoun<TeamWire, string>(program, io, {
    name: 'teams',
    summary: 'groups of people',
    description: 'Groups of people with a budget.',
    one: { name: '<team>', parse: String },
    show,
  });

  perform(teams.command.command('create <name>'), io, NEW_TEAM, create)
    .description('Create a team.')
    .addHelpText('after', '\nExample:\n  errand teams create Research --budget 250');
  teams.list('List all teams.', {}, alone, (client) => client.teams.list());
  teams
    .set('Change a team, by name or id. Other fields stay as they are.', options, (client, ref, fields) =>
      client.teams.change(ref, fields),
    )
    .addHelpText('after', '\nExample:\n  errand teams set Research --budget none');
}

async function create(context: Context, name: string, fields: Given<typeof NEW_TEAM>): Promise<void> {
  show(context, await context.client().teams.create({ name: notEmpty(name), ...fields }));
}
