// What a process is called with: its flags and its environment.

/** The command line's global flags and those of `serve`, as given (K4, K5). */
export interface Flags {
  readonly dataDir?: string;
  readonly configDir?: string;
  readonly listen?: string;
  readonly publicUrl?: string;
  readonly noWorkers?: boolean;
  readonly url?: string;
  readonly tokenFile?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment: the only place that reads it. */
export function readEnvironment(): Environment {
  return process.env;
}

/** Libraries that are slower and remember more for those who develop with them look here when they are loaded. */
export function preferProductionBuilds(): void {
  process.env['NODE_ENV'] ??= 'production';
}

/** The value of a variable; null when it is unset or empty. */
export function variable(environment: Environment, name: string): string | null {
  const value = environment[name];
  return value === undefined || value === '' ? null : value;
}
