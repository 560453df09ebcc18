// `errand` alone: how the daemon is doing, and what to do next.
import { isClientFailure } from '../client/transport/client-error.ts';
import { messageOf } from '../domain/errors.ts';
import { startOf } from '../config/locations.ts';
import type { StatusWire } from '../wire/status.ts';
import { headlineOf, problemGroupOf, runsText, workersText } from './terminal/status-report.ts';
import { column } from '../terminal/columns.ts';
import type { Context } from './frame/context.ts';

/** Shows it; a daemon that cannot be asked is a state like any other. */
export async function showOverview(context: Context): Promise<void> {
  const { call, client, out, locations, signal } = context;
  let status: StatusWire;
  try {
    status = await client().status();
  } catch (error) {
    if (signal.aborted || !isClientFailure(error, 'unreachable', 'lost', 'timeout', 'denied', 'refused')) throw error;
    const isAbsent = isClientFailure(error, 'unreachable') && locations.url === null;
    if (out.format === 'json') return out.json({ running: isAbsent ? false : null, message: messageOf(error) });
    out.text(
      isAbsent ? `Errand isn't running with the data directory ${locations.dataDir}.\n` : `${messageOf(error)}\n`,
    );
    out.text(
      isAbsent ? nextSteps({ [startOf(locations, call)]: 'start it', [`${call} --help`]: HELP }) : helpAlone(call),
    );
    return;
  }
  if (out.format === 'json') return out.json({ running: true, status });
  const work = { heading: null, columns: [column('runs', runsText), column('workers', workersText)] };
  const [headline, problems] = [headlineOf(status), problemGroupOf(status)];
  out.report(status, {
    groups: [{ heading: null, columns: [...headline.columns, ...work.columns] }, problems],
    columns: [...headline.columns, ...work.columns, ...problems.columns],
    document: status,
  });
  out.text(
    nextSteps({
      [`${call} status`]: 'everything about the daemon',
      [`${call} office`]: 'watch all agents at work',
      [`${call} runs list`]: 'what they did',
      [`${call} --help`]: HELP,
    }),
  );
}

const HELP = 'all commands';

const helpAlone = (call: string) => nextSteps({ [`${call} --help`]: HELP });

/** Commands to paste, each with what it is for. */
function nextSteps(steps: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(steps).map(({ length }) => length));
  const lines = Object.entries(steps).map(([command, purpose]) => `  ${command.padEnd(width)}  ${purpose}\n`);
  return `\n${lines.join('')}`;
}
