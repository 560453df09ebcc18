// `errand queue`: which runs are waiting, why, and for how long.
import type { Command } from 'commander';
import type { QueueEntryWire, QueueWire } from '../../../wire/sessions/queue.ts';
import type { Context } from '../../frame/context.ts';
import { formatDuration } from '../../../terminal/durations.ts';
import type { Io } from '../../frame/io.ts';
import { LIMIT } from '../../frame/list-options.ts';
import { type Given, perform } from '../../frame/options.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

const COLUMNS: readonly Column<QueueEntryWire>[] = [
  field('run_id', 9),
  column('waiting', ({ waiting_ms: ms }) => formatDuration(ms / 1_000), 8),
  field('username', 6),
  field('key_id', 1),
  field('schedule_mode', 3),
  field('reason', 7),
  field('behind_run_id', 4),
];

/** Adds the command. */
export function addQueue(program: Command, io: Io): void {
  perform(program.command('queue'), io, LIMIT, list)
    .summary('waiting runs, and why they wait')
    .description(
      'List the waiting runs in the order in which they were accepted, with the reason and the run that each waits for.',
    )
    .addHelpText('after', REASONS);
}

async function list({ call, client, out }: Context, { limit }: Given<typeof LIMIT>): Promise<void> {
  const queue = await client().queue(limit);
  out.list(queue.items, COLUMNS, queue);
  if (out.format !== 'json') out.hint(summaryOf(call, queue));
}

const REASONS = `
Reasons:
  session_busy      an earlier run of its session is unfinished
  user_input        an earlier run of its session is waiting for its user
  task_busy         an earlier firing of its scheduled task is unfinished
  stop_unconfirmed  a stopped run of its session has not released the workspace yet
  key_order         an earlier run of its API key is also waiting
  slots_full        every worker slot is occupied
  background_limit  the limit of background runs that execute at the same time is reached
  not_claiming      no node starts runs: it has no workers, drains, or is shutting down
  starting          no reason: it is about to start`;

function summaryOf(call: string, queue: QueueWire): string {
  const { total, items, claiming, slots, busy, waiting_for_user: asking } = queue;
  const waiting = items.length < total ? `${items.length} of ${total} waiting runs` : `${total} waiting`;
  const questions = asking === 0 ? '' : `; ${asking} waiting for their users (${call} inputs list)`;
  return `${waiting}; ${busy} of ${slots} slots busy${questions}${claiming ? '' : '; no runs are being started'}.`;
}
