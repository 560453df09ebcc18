// `errand queue`: what waits, why, and for how long.
import type { Command } from 'commander';
import type { QueueEntryWire, QueueWire } from '../../client/wire/session-wire.ts';
import { rowLimit } from '../frame/arguments.ts';
import { act } from '../frame/context.ts';
import { formatDuration } from '../frame/durations.ts';
import type { Io } from '../frame/io.ts';
import { type Column, field } from '../terminal/output.ts';

const COLUMNS: readonly Column<QueueEntryWire>[] = [
  field('run_id'),
  { name: 'waiting', value: ({ waiting_ms: ms }) => formatDuration(ms / 1_000) },
  field('username'),
  field('key_id'),
  field('schedule_mode'),
  field('reason'),
  field('behind_run_id'),
];

/** Adds the command. */
export function addQueue(program: Command, io: Io): void {
  program
    .command('queue')
    .summary('what waits, and why')
    .description('List the runs that wait, in order of acceptance, with the reason and the run they wait for.')
    .option('--limit <count>', 'how many at most, up to 500; 100 without it', rowLimit)
    .addHelpText('after', REASONS)
    .action(
      act(io, async ({ call, client, out }, { limit }: { readonly limit?: number }) => {
        const queue = await client().queue(limit);
        out.list(queue.items, COLUMNS, queue);
        if (out.format !== 'json') out.hint(summaryOf(call, queue));
      }),
    );
}

const REASONS = `
Reasons:
  session_busy      an earlier run of its session is not finished
  user_input        an earlier run of its session waits for its user
  stop_unconfirmed  a stopped run of its session has not let go of the workspace yet
  key_order         an earlier run of its API key waits, too
  slots_full        every worker slot is taken
  background_limit  so many background runs may execute at once, and do
  not_claiming      the daemon has no workers, or shuts down
  starting          none: it is about to start`;

function summaryOf(call: string, queue: QueueWire): string {
  const { total, items, claiming, slots, busy, waiting_for_user: asking } = queue;
  const waiting = items.length < total ? `${items.length} of ${total} waiting runs` : `${total} waiting`;
  const questions = asking === 0 ? '' : `; ${asking} waiting for their users (${call} inputs list)`;
  return `${waiting}; ${busy} of ${slots} slots busy${questions}${claiming ? '' : '; no run is started'}.`;
}
