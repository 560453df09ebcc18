// How the user calls this program from where they stand, for lines that are to be pasted.
import { realpathSync } from 'node:fs';
import path from 'node:path';

/**
 * `errand` when the search path leads to this very program, else the launcher beside `script` as a path.
 * `searchPath` is the value of PATH.
 */
export function commandNameOf(script: string | undefined, cwd: string, searchPath: string | undefined): string {
  if (script === undefined) return 'errand';
  const launcher = path.join(path.dirname(script), 'errand');
  const target = resolved(launcher);
  if (target === undefined) return 'errand';
  const found = (searchPath ?? '')
    .split(path.delimiter)
    .map((directory) => resolved(path.join(directory, 'errand')))
    .find((candidate) => candidate !== undefined);
  if (found === target) return 'errand';
  const relative = path.relative(cwd, launcher);
  return relative.startsWith('..') ? launcher : relative;
}

function resolved(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
