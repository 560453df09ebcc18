// How the user calls this program from their directory, for lines to paste.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { shellWord } from '../../terminal/shell-word.ts';

/**
 * `errand` if the search path leads to this program, otherwise its launcher as a path: the one next to `script`, or `script`
 * itself when it is a single executable. `searchPath` is the value of PATH.
 */
export function commandNameOf(script: string | undefined, cwd: string, searchPath: string | undefined): string {
  if (script === undefined) return 'errand';
  const launcher = /\.c?js$|\.ts$/.test(script) ? path.join(path.dirname(script), 'errand') : script;
  const target = resolved(launcher);
  if (target === undefined) return 'errand';
  const found = (searchPath ?? '')
    .split(path.delimiter)
    .map((directory) => resolved(path.join(directory, 'errand')))
    .find((candidate) => candidate !== undefined);
  if (found === target) return 'errand';
  const relative = path.relative(cwd, launcher);
  if (relative.startsWith('..')) return launcher;
  return relative.includes('/') ? relative : `./${relative}`;
}

/** The path of the launcher next to `script`; that of Node.js where the program is part of it. */
export function executableOf(script: string | undefined, execPath: string): string {
  if (script === undefined || script === execPath) return execPath;
  const launcher = path.join(path.dirname(script), 'errand');
  return resolved(launcher) ?? launcher;
}

/** The flags that select the daemon (K4). */
interface LocationFlags {
  readonly dataDir?: string | undefined;
  readonly configDir?: string | undefined;
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
}

const PLACE_FLAGS = {
  dataDir: '--data-dir',
  configDir: '--config-dir',
  url: '--url',
  tokenFile: '--token-file',
} as const satisfies Record<keyof LocationFlags, string>;

/** The program's name with the flags of this call that another call to the same daemon also needs. */
export function callOf(name: string, given: LocationFlags): string {
  const words = Object.entries(PLACE_FLAGS).flatMap(([key, flag]) => {
    const value = given[key as keyof LocationFlags];
    return value === undefined ? [] : [flag, shellWord(value)];
  });
  return [name, ...words].join(' ');
}

function resolved(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
