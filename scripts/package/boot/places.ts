// Where the files of the executable can lie, best first.
import path from 'node:path';

export interface Machine {
  readonly home: string;
  readonly temporary: string;
  readonly uid: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * ERRAND_CACHE_DIR alone when it is set. Otherwise the cache of the service or of the user, then what lasts as long as the
 * service or the login, then the service's data, then the directory of temporary files.
 */
export function placesOf(environment: Environment, { home, temporary, uid }: Machine): readonly string[] {
  const named = environment['ERRAND_CACHE_DIR'];
  if (named !== undefined && named !== '') return [path.resolve(named)];
  const of = (name: string, ...rest: readonly string[]) => below(environment[name]?.split(':')[0], ...rest);
  return [
    of('CACHE_DIRECTORY', 'program'),
    of('XDG_CACHE_HOME', 'errand'),
    below(home, '.cache', 'errand'),
    of('XDG_RUNTIME_DIR', 'errand'),
    of('RUNTIME_DIRECTORY', 'program'),
    of('STATE_DIRECTORY', 'program'),
    below(temporary, `errand-${uid}`),
  ].filter((place) => place !== undefined);
}

function below(directory: string | undefined, ...rest: readonly string[]): string | undefined {
  return directory !== undefined && path.isAbsolute(directory) ? path.join(directory, ...rest) : undefined;
}
