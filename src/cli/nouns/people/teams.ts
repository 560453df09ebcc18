// `errand teams`: groups of people with a budget.
import type { Command } from 'commander';
import type { TeamWire } from '../../../wire/people/team.ts';
import { dollars, dollarsOrNone, type NONE, notEmpty, orNull } from '../../frame/arguments.ts';
import { act } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, field } from '../../../terminal/columns.ts';

const COLUMNS: readonly Column<TeamWire>[] = [
  field('id', 3),
  field('name', 9),
  field('budget_amount_usd', 7),
  field('created_at', 2),
];

interface Changes {
  readonly name?: string;
  readonly budget?: number | typeof NONE;
}

/** Adds the noun and its verbs. */
export function addTeams(program: Command, io: Io): void {
  const teams = program.command('teams').summary('groups of people').description('Groups of people with a budget.');

  teams
    .command('create <name>')
    .description('Create a team.')
    .option('--budget <usd>', 'budget in US dollars by day', dollars)
    .addHelpText('after', '\nExample:\n  errand teams create Research --budget 250')
    .action(
      act(io, async ({ client, out }, name: string, { budget }: { readonly budget?: number }) => {
        const fields = budget === undefined ? {} : { budget_amount_usd: budget };
        const team = await client().teams.create({ name: notEmpty(name), ...fields });
        out.record(team, COLUMNS, team);
      }),
    );

  teams
    .command('list')
    .description('List all teams.')
    .action(
      act(io, async ({ client, out }) => {
        const list = await client().teams.list();
        out.list(list.items, COLUMNS, list);
      }),
    );

  teams
    .command('set <team>')
    .description('Change a team, by name or id. Other fields stay as they are.')
    .option('--name <name>', 'new name', notEmpty)
    .option('--budget <usd>', 'budget in US dollars by day; "none" for no budget', dollarsOrNone)
    .addHelpText('after', '\nExample:\n  errand teams set Research --budget none')
    .action(
      act(io, async ({ client, out }, ref: string, { name, budget }: Changes) => {
        const fields = {
          ...(name !== undefined && { name }),
          ...(budget !== undefined && { budget_amount_usd: orNull(budget) }),
        };
        if (Object.keys(fields).length === 0) throw new CommandError('usage', 'Give at least one field to change.');
        const team = await client().teams.change(ref, fields);
        out.record(team, COLUMNS, team);
      }),
    );
}
