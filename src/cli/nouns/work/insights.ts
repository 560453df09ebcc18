// `errand insights`: shows what agents want people to know, and changes its status.
import { Argument, type Command } from 'commander';
import type { InsightWire } from '../../../wire/sessions/insight.ts';
import { INSIGHT_STATUSES, type InsightStatus } from '../../../domain/sessions/insight.ts';
import { idOrStart } from '../../frame/arguments.ts';
import { act } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { LIMIT, OF_SESSION } from '../../frame/list-options.ts';
import { addNoun, argumentOf, type OptionsFor, showing } from '../../frame/noun.ts';
import { choice } from '../../frame/options.ts';
import { type Column, field, state } from '../../../terminal/columns.ts';
import type { Style } from '../../../terminal/colours.ts';

const PRIORITY_STYLES: Readonly<Record<InsightWire['priority'], Style | undefined>> = {
  low: 'dim',
  normal: undefined,
  high: 'yellow',
  urgent: 'red',
};

const IN_A_LIST: readonly Column<InsightWire>[] = [
  field('insight_id', 9),
  state('status', ({ status }) => status, 8),
  {
    name: 'priority',
    value: ({ priority }) => priority,
    style: ({ priority }) => PRIORITY_STYLES[priority],
    worth: 6,
  },
  field('username', 5),
  field('created_at', 4),
  field('title', 7),
];

const ALONE: readonly Column<InsightWire>[] = [
  ...IN_A_LIST,
  field('summary'),
  field('updated_at'),
  field('run_id'),
  field('session_id'),
  field('user_id'),
];

const FILTERS = {
  status: choice('--status <status>', 'only those in this status', INSIGHT_STATUSES),
  session_id: OF_SESSION,
  ...LIMIT,
} satisfies OptionsFor<'insights', 'list'>;

const INSIGHT = { name: '<insight>', help: 'its id, or the start of it', parse: idOrStart };
const show = showing(ALONE);

/** Adds the noun and its verbs. */
export function addInsights(program: Command, io: Io): void {
  const insights = addNoun<InsightWire, string>(program, io, {
    name: 'insights',
    summary: 'what agents report',
    description: 'What agents want people to know, in addition to their answers.',
    one: INSIGHT,
    show,
    plural: 'insights',
  });

  insights.list('List insights, the newest first.', FILTERS, IN_A_LIST, (client, query) => client.insights.list(query));
  insights.show('Show one insight.', (client, id) => client.insights.get(id));
  insights.command
    .command('set')
    .addArgument(argumentOf(INSIGHT))
    .addArgument(new Argument('<status>', 'its new status').choices(['acknowledged', 'resolved', 'dismissed']))
    .description('Change the status of an insight: from new to acknowledged, then to resolved or dismissed.')
    .action(
      act(io, async (context, id: string, status: InsightStatus) =>
        show(context, await context.client().insights.setStatus(id, status)),
      ),
    );
}
