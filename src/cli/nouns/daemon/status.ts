// `errand status`: the state of the daemon.
import type { Command } from 'commander';
import type { Context } from '../../frame/context.ts';
import { duration } from '../../frame/arguments.ts';
import { untilReady } from '../../frame/until-ready.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { always, flag, type Given, option, perform } from '../../frame/options.ts';
import { problemsIn, statusReport } from '../../terminal/status-report.ts';

const OPTIONS = {
  check: flag('--check', 'exit with 8 unless every part is ok'),
  wait: flag('--wait', 'wait until the daemon is ready, or is a node that drains; exit with 7 if it takes too long'),
  timeout: always(option('--timeout <duration>', 'how long --wait waits', duration), 60, '60s'),
};

/** Adds the command. */
export function addStatus(program: Command, io: Io): void {
  perform(program.command('status'), io, OPTIONS, showStatus)
    .summary('the state of the daemon')
    .description('Show the state of the daemon: its parts, runs, workers and models.')
    .addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  errand status --check || systemctl restart errand
  errand serve & errand status --wait --timeout 30s`;

async function showStatus(context: Context, { check, wait, timeout }: Given<typeof OPTIONS>): Promise<void> {
  const { client, io, out } = context;
  const status = await (wait ? untilReady(context, timeout) : client().status());
  out.report(status, statusReport(status));
  const problems = problemsIn(status);
  if (status.ready && problems.length === 0) return;
  const names = problems.map(({ name, state }) => `${name} ${state}`).join(', ') || 'it is not ready';
  if (check) throw new CommandError('checkFailed', `The daemon has problems: ${names}.`);
  // People see it at the top.
  if (!io.terminal.stdout) out.hint(`The daemon has problems: ${names}.`);
}
