// `errand budgets`: the most that keys, users, teams and runs may use.
import { Argument, type Command, Option } from 'commander';
import {
  BUDGET_PERIODS,
  type BudgetPeriod,
  type BudgetSubject,
  HIGHEST_LIMIT,
} from '../../../domain/budgets/budget.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { exactMoney } from '../../../terminal/money.ts';
import type { BudgetWire, WantedBudgetWire } from '../../../wire/people/budget.ts';
import { dollars, idOrStart, integerIn, notEmpty, ROW_LIMIT, ROW_OFFSET } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { confirm } from '../../frame/standard-input.ts';

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

const ID = new Argument('<budget>', 'its id, or the start of it').argParser(idOrStart);

/** Adds the noun and its verbs. */
export function addBudgets(program: Command, io: Io): void {
  const budgets = program
    .command('budgets')
    .summary('the most that may be used')
    .description('Budgets: the most that keys, users, teams and runs may use, in US dollars or tokens.');

  addSubjects(budgets.command('list'))
    .description('List budgets, the newest first, with what their current day or month has used.')
    .addOption(ROW_LIMIT)
    .addOption(ROW_OFFSET)
    .action(act(io, list));

  budgets
    .command('show')
    .addArgument(ID)
    .description('Show one budget.')
    .action(act(io, async ({ client, out }, id: string) => show(out, await client().budgets.get(id))));

  addSubjects(budgets.command('set'))
    .description(
      'Set a budget, in place of the one for the same subject, unit and period. It takes effect at the next model call, and what the current day or month has used already counts.',
    )
    .option('--usd <amount>', 'the limit in US dollars', dollars)
    .option('--tokens <count>', 'the limit in tokens of input and output', integerIn({ from: 0, to: HIGHEST_LIMIT }))
    .addOption(new Option('--per <period>', 'when it renews; "all": never (default: month)').choices(BUDGET_PERIODS))
    .option('--timezone <zone>', 'where its days and months begin, such as Europe/Zurich (default: UTC)', notEmpty)
    .addHelpText(
      'after',
      `
Examples:
  errand budgets set --team Research --usd 50 --per month
  errand budgets set --user alice --tokens 2000000 --per day --timezone Europe/Zurich
  errand budgets set --run-default --usd 2`,
    )
    .action(act(io, set));

  budgets
    .command('remove')
    .addArgument(ID)
    .description('Remove a budget. Asks first. What was used stays in the ledger.')
    .action(act(io, remove));
}

/** The options that name whose budget it is. */
function addSubjects(command: Command): Command {
  return command
    .option('--key <key>', 'of this API key, by its id', notEmpty)
    .option('--user <user>', 'of this user, by name or id', notEmpty)
    .option('--team <team>', 'of this team, by name or id', notEmpty)
    .option('--run-default', 'of each run');
}

interface Subjects {
  readonly key?: string;
  readonly user?: string;
  readonly team?: string;
  readonly runDefault?: true;
}

interface ListOptions extends Subjects {
  readonly limit?: number;
  readonly offset?: number;
}

interface SetOptions extends Subjects {
  readonly usd?: number;
  readonly tokens?: number;
  readonly per?: BudgetPeriod;
  readonly timezone?: string;
}

/** Whose budget the options name; undefined without any. */
function subjectOf(given: Subjects): { readonly subject: BudgetSubject; readonly ref?: string } | undefined {
  const named = (['key', 'user', 'team'] as const).flatMap((subject) => {
    const ref = given[subject];
    return ref === undefined ? [] : [{ subject, ref }];
  });
  const all = [...named, ...(given.runDefault === true ? [{ subject: 'run' as const }] : [])];
  if (all.length > 1) throw new CommandError('usage', 'Give only one of --key, --user, --team and --run-default.');
  return all[0];
}

async function list({ client, out }: Context, { limit, offset, ...subjects }: ListOptions): Promise<void> {
  const page = { ...(limit !== undefined && { limit }), ...(offset !== undefined && { offset }) };
  const found = await client().budgets.list({ ...subjectOf(subjects), ...page });
  out.list(found.items, COLUMNS, found);
}

const show = (out: Context['out'], budget: BudgetWire) => out.record(budget, COLUMNS, budget);

async function set({ client, out }: Context, options: SetOptions): Promise<void> {
  const whose = subjectOf(options);
  if (whose === undefined) throw new CommandError('usage', 'Give one of --key, --user, --team and --run-default.');
  show(out, await client().budgets.set({ ...whose, ...limitOf(options), ...periodOf(whose.subject, options) }));
}

function limitOf({ usd, tokens: most }: SetOptions): Pick<WantedBudgetWire, 'unit' | 'limit'> {
  if (usd !== undefined && most === undefined) return { unit: 'usd', limit: usd };
  if (most !== undefined && usd === undefined) return { unit: 'tokens', limit: most };
  throw new CommandError('usage', 'Give one of --usd and --tokens.');
}

function periodOf(
  subject: BudgetSubject,
  { per, timezone }: SetOptions,
): Pick<WantedBudgetWire, 'period' | 'timezone'> {
  const period = per ?? (subject === 'run' ? 'all' : 'month');
  return { period, ...(timezone !== undefined && { timezone }) };
}

async function remove(context: Context, id: string): Promise<void> {
  const { budgets } = context.client();
  const found = await budgets.get(id);
  const whose = found.subject_name === null ? 'of each run' : `of ${found.subject} ${found.subject_name}`;
  await confirm(context, async () => `Remove the budget ${whose}, ${amount(found.limit, found.unit)}?`);
  show(context.out, await budgets.remove(found.id));
}
