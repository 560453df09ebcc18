// `errand insights`: shows what agents want people to know, and changes its status.
import { Argument, type Command, Option } from 'commander';
import type { InsightWire } from '../../../wire/sessions/insight.ts';
import { INSIGHT_STATUSES, type InsightStatus } from '../../../domain/sessions/insight.ts';
import { OF_SESSION, ROW_LIMIT, idOrStart } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, field, state } from '../../../terminal/columns.ts';
import type { Style } from '../../../terminal/colours.ts';

const PRIORITY_STYLES: Readonly<Record<InsightWire['priority'], Style | undefined>> = {
  low: 'dim',
  normal: undefined,
  high: 'yellow',
  urgent: 'red',
};

const ID = new Argument('<insight>', 'its id, or the start of it').argParser(idOrStart);

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

/** Adds the noun and its verbs. */
export function addInsights(program: Command, io: Io): void {
  const insights = program
    .command('insights')
    .summary('what agents report')
    .description('What agents want people to know, in addition to their answers.');

  insights
    .command('list')
    .description('List insights, the newest first.')
    .addOption(new Option('--status <status>', 'only those in this status').choices(INSIGHT_STATUSES))
    .addOption(OF_SESSION)
    .addOption(ROW_LIMIT)
    .action(act(io, list));

  insights
    .command('show')
    .addArgument(ID)
    .description('Show one insight.')
    .action(act(io, async (context, id: string) => show(context, await context.client().insights.get(id))));

  insights
    .command('set')
    .addArgument(ID)
    .addArgument(new Argument('<status>', 'its new status').choices(['acknowledged', 'resolved', 'dismissed']))
    .description('Change the status of an insight: from new to acknowledged, then to resolved or dismissed.')
    .action(
      act(io, async (context, id: string, status: InsightStatus) =>
        show(context, await context.client().insights.setStatus(id, status)),
      ),
    );
}

interface ListOptions {
  readonly session?: string;
  readonly status?: InsightStatus;
  readonly limit?: number;
}

async function list({ client, out }: Context, { session, status, limit }: ListOptions): Promise<void> {
  const found = await client().insights.list({ session_id: session, status, limit });
  out.page(found, IN_A_LIST, 'insights');
}

function show({ out }: Context, insight: InsightWire): void {
  out.record(insight, ALONE, insight);
}
