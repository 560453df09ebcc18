// `errand budgets`: the most that keys, users, teams and runs may use.
import type { Command } from 'commander';
import { BUDGET_PERIODS, type BudgetSubject, HIGHEST_LIMIT } from '../../../domain/budgets/budget.ts';
import { defined } from '../../../domain/defined.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { exactMoney } from '../../../terminal/money.ts';
import type { BudgetWire, WantedBudgetWire } from '../../../wire/people/budget.ts';
import { dollars, idOrStart, integerIn, notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { PART } from '../../frame/list-options.ts';
import { addNoun, showing } from '../../frame/noun.ts';
import { choice, converted, flag, type Given, group, option } from '../../frame/options.ts';

const NEARLY = 80;
const USED_UP = 100;

const COLUMNS: readonly Column<BudgetWire>[] = [
  field('id', 6),
  field('subject', 9),
  field('subject_name', 9),
  column('limit', ({ limit, unit }) => amount(limit, unit), 9),
  field('period', 8),
  column('spent', ({ subject, spent, unit }) => (subject === 'run' ? null : amount(spent, unit)), 8),
  column('reserved', ({ subject, reserved, unit }) => (subject === 'run' ? null : amount(reserved, unit)), 3),
  {
    name: 'used',
    value: ({ subject, used_percent: percent }) => (subject === 'run' ? null : `${percent} %`),
    worth: 9,
    style: ({ used_percent: percent }) => (percent >= USED_UP ? 'red' : percent >= NEARLY ? 'yellow' : undefined),
  },
  field('renews_at', 7),
  field('timezone', 2),
];

function amount(value: number, unit: BudgetWire['unit']): string {
  return unit === 'tokens' ? `${Math.round(value)} tokens` : exactMoney(value);
}

/** Whose budget it is; undefined for nobody's. */
const WHOSE = converted(
  group({
    key: option('--key <key>', 'of this API key, by its id', notEmpty),
    user: option('--user <user>', 'of this user, by name or id', notEmpty),
    team: option('--team <team>', 'of this team, by name or id', notEmpty),
    run: flag('--run-default', 'of each run'),
  }),
  (given): { readonly subject: BudgetSubject; readonly ref?: string } => {
    const [[subject, ref], ...others] = Object.entries(given) as [[BudgetSubject, string | true]];
    if (others.length > 0) throw new CommandError('usage', 'Give only one of --key, --user, --team and --run-default.');
    return ref === true ? { subject } : { subject, ref };
  },
);

const WANTED = {
  whose: WHOSE,
  usd: option('--usd <amount>', 'the limit in US dollars', dollars),
  tokens: option(
    '--tokens <count>',
    'the limit in tokens of input and output',
    integerIn({ from: 0, to: HIGHEST_LIMIT }),
  ),
  per: choice('--per <period>', 'when it renews; "all": never (default: month)', BUDGET_PERIODS),
  timezone: option(
    '--timezone <zone>',
    'where its days and months begin, such as Europe/Zurich (default: UTC)',
    notEmpty,
  ),
};

const show = showing(COLUMNS);

/** Adds the noun and its verbs. */
export function addBudgets(program: Command, io: Io): void {
  const budgets = addNoun<BudgetWire, string>(program, io, {
    name: 'budgets',
    summary: 'the most that may be used',
    description: 'Budgets: the most that keys, users, teams and runs may use, in US dollars or tokens.',
    one: { name: '<budget>', help: 'its id, or the start of it', parse: idOrStart },
    show,
  });

  budgets.list(ABOUT_LIST, { whose: WHOSE, ...PART }, COLUMNS, (client, { whose, ...part }) =>
    client.budgets.list({ ...whose, ...part }),
  );
  budgets.show('Show one budget.', (client, id) => client.budgets.get(id));
  budgets.verb('set', ABOUT_SET, WANTED, set).addHelpText('after', EXAMPLES);
  budgets.confirmed('remove', 'Remove a budget. Asks first. What was used stays in the ledger.', {
    find: (client, id) => client.budgets.get(id),
    question: ({ subject, subject_name: name, limit, unit }) =>
      `Remove the budget ${name === null ? 'of each run' : `of ${subject} ${name}`}, ${amount(limit, unit)}?`,
    work: (client, { id }) => client.budgets.remove(id),
    show,
  });
}

const ABOUT_LIST = 'List budgets, the newest first, with what their current day or month has used.';
const ABOUT_SET =
  'Set a budget, in place of the one for the same subject, unit and period. It takes effect at the next model call, and what the current day or month has used already counts.';

const EXAMPLES = `
Examples:
  errand budgets set --team Research --usd 50 --per month
  errand budgets set --user alice --tokens 2000000 --per day --timezone Europe/Zurich
  errand budgets set --run-default --usd 2`;

async function set(context: Context, { whose, per, timezone, ...given }: Given<typeof WANTED>): Promise<void> {
  if (whose === undefined) throw new CommandError('usage', 'Give one of --key, --user, --team and --run-default.');
  const period = per ?? (whose.subject === 'run' ? 'all' : 'month');
  const wanted = { ...whose, ...limitOf(given), period, ...defined({ timezone }) };
  show(context, await context.client().budgets.set(wanted));
}

function limitOf({
  usd,
  tokens: most,
}: Pick<Given<typeof WANTED>, 'usd' | 'tokens'>): Pick<WantedBudgetWire, 'unit' | 'limit'> {
  if (usd !== undefined && most === undefined) return { unit: 'usd', limit: usd };
  if (most !== undefined && usd === undefined) return { unit: 'tokens', limit: most };
  throw new CommandError('usage', 'Give one of --usd and --tokens.');
}
