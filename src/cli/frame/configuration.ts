// The configuration, for commands that need all of it; if it is invalid, they report every problem and end (J2).
import { formatProblem, type Problem } from '../../catalog/reading/problem.ts';
import type { Configuration } from '../../config/read-configuration.ts';
import type { Context } from './context.ts';
import { CommandError } from './exit-codes.ts';

/** A configuration, or its problems. */
export type Checked =
  | ({ readonly ok: true; readonly problems: readonly Problem[] } & Configuration)
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads flags, environment and every file of the config directory. Requires no daemon and changes nothing. With
 * `unresolved`, references to credentials that only the service has are collected there.
 */
export async function checkConfiguration({ flags, io }: Context, unresolved?: Set<string>): Promise<Checked> {
  // Loaded here because commands that only talk to a daemon start faster without the catalog.
  const { loadLiveConfig } = await import('../../config/read-configuration.ts');
  return loadLiveConfig(flags, io.environment, unresolved);
}

/** The configuration. Throws `badConfiguration` after printing each problem on a line of stderr. */
export async function requireConfiguration(context: Context): Promise<Configuration> {
  const checked = await checkConfiguration(context);
  if (checked.ok) return checked;
  throw printProblems(context, checked.problems);
}

/** Prints the problems and returns the error to end with; a single problem is the error's message. */
function printProblems({ out }: Context, problems: readonly Problem[]): CommandError {
  const [only, ...others] = problems.map(formatProblem);
  if (only !== undefined && others.length === 0) return new CommandError('badConfiguration', only);
  for (const problem of problems) out.hint(formatProblem(problem));
  return new CommandError('badConfiguration', `There are ${problems.length} problems with the configuration.`);
}
