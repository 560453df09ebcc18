// `errand users leave`: shows all that a user has, and settles it.
import type { Command } from 'commander';
import { MOST_HELD } from '../../../domain/people/holding.ts';
import { shellWord } from '../../../terminal/shell-word.ts';
import type { HoldingsWire, LeaveProgressWire } from '../../../wire/people/leaving.ts';
import { notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import type { OptionsFor } from '../../frame/noun.ts';
import { flag, type Given, option, perform } from '../../frame/options.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { makeProgressBar } from '../../terminal/progress.ts';
import { confirm } from '../../frame/standard-input.ts';

type Row = HoldingsWire['holdings'][number];

const COLUMNS: readonly Column<Row>[] = [
  field('kind', 9),
  column('count', ({ count }) => (count === MOST_HELD ? `${count} or more` : count), 8),
  column('names', ({ names, count }) =>
    [...names, ...(names.length > 0 && count > names.length ? ['…'] : [])].join(', '),
  ),
];

const SETTLING = {
  hand_over_to: option(
    '--hand-over-to <user>',
    'who gets the scheduled tasks and the published pages, by name or id',
    notEmpty,
  ),
  delete: flag('--delete', 'delete what is not handed over, with the sessions and their files'),
} satisfies OptionsFor<'users', 'leave'>;

/** Adds the verb. */
export function addLeave(users: Command, io: Io): void {
  perform(users.command('leave <user>'), io, SETTLING, leave)
    .description(
      'Show all that a user has. With --hand-over-to or --delete: disable the user and settle it. Asks first.',
    )
    .addHelpText('after', HELP);
}

const HELP = `
In any case the user is disabled and leaves their team, their runs are stopped, their keys and connections are revoked, and
their webhooks are deleted. Sessions stay for administrators to read, unless they are deleted. The account itself stays, so
that usage and the audit log keep its name, and single sign-on can't make it anew.

If it is interrupted, the same command continues.

Examples:
  errand users leave alice
  errand users leave alice --hand-over-to bob
  errand users leave alice --hand-over-to bob --delete`;

async function leave(context: Context, ref: string, settling: Given<typeof SETTLING>): Promise<void> {
  const { users } = context.client();
  const before = await users.holdings(ref);
  if (Object.keys(settling).length === 0) {
    show(context, before, before);
    if (before.holdings.some(({ count }) => count > 0) || !before.disabled) {
      const call = `errand users leave ${shellWord(before.username)}`;
      context.out.hint(`Nothing was changed. Settle it with ${call} --hand-over-to USER, or ${call} --delete.`);
    }
    return;
  }
  await confirm(context, async () => questionOf(before, settling));
  const bar = makeProgressBar(context.io);
  const total = before.holdings.reduce((sum, { count }) => sum + count, 0);
  let settled = 0;
  let last: LeaveProgressWire;
  try {
    do {
      bar.show('Settling', settled, total);
      last = await users.leave(before.user_id, settling);
      settled += last.settled;
    } while (!last.done && last.settled > 0);
  } finally {
    bar.end();
  }
  show(context, last, { ...last, settled });
  if (!last.done) throw new CommandError('failure', 'Something is left. The same command continues.');
}

function questionOf({ username, holdings }: HoldingsWire, settling: Given<typeof SETTLING>): string {
  const { hand_over_to: heir, delete: deletes } = settling;
  const has = holdings
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} × ${kind.replace('_', ' ')}`);
  const what = has.length === 0 ? 'nothing' : has.join(', ');
  const then = [
    ...(heir === undefined ? [] : [`hand tasks and pages over to ${heir}`]),
    ...(deletes ? [heir === undefined ? 'delete all of it' : 'delete the rest'] : []),
  ].join(' and ');
  return `${username} has ${what}. Disable ${username}, ${then}?`;
}

function show({ out }: Context, { holdings }: HoldingsWire, document: object): void {
  out.list(holdings, COLUMNS, document);
}
