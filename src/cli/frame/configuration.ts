// The configuration for the commands that need it whole; without it they end with every problem told (J2).
import { formatProblem, type Problem } from '../../catalog/problem.ts';
import type { Configuration } from '../../config/live-config.ts';
import type { Context } from './context.ts';
import { CommandError } from './exit-codes.ts';

/** A configuration, or what is wrong with it. */
export type Checked =
  | ({ readonly ok: true; readonly problems: readonly Problem[] } & Configuration)
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads flags, environment and every file of the config directory. Needs no daemon and changes nothing. With
 * `unresolved`, references to credentials that only the service has are collected there.
 */
export async function checkConfiguration({ flags, io }: Context, unresolved?: Set<string>): Promise<Checked> {
  // Loaded here because the commands that only talk to a daemon are quicker without the catalog.
  const { loadLiveConfig } = await import('../../config/live-config.ts');
  return loadLiveConfig(flags, io.environment, unresolved);
}

/** The configuration. Throws `badConfiguration` after telling each problem, a line each, on stderr. */
export async function requireConfiguration(context: Context): Promise<Configuration> {
  const checked = await checkConfiguration(context);
  if (checked.ok) return checked;
  throw tellProblems(context, checked.problems);
}

/** Tells the problems and answers the error to end with; one alone is told by the error. */
function tellProblems({ out }: Context, problems: readonly Problem[]): CommandError {
  const [only, ...others] = problems.map(formatProblem);
  if (only !== undefined && others.length === 0) return new CommandError('badConfiguration', only);
  for (const problem of problems) out.hint(formatProblem(problem));
  return new CommandError('badConfiguration', `There are ${problems.length} problems with the configuration.`);
}
