// The paths that a document names and the repository doesn't have.
import { posix } from 'node:path';

/** What looks like a path in backticks: it has a slash, or ends as a source or a document does. Braces stand for several names. */
const PATH = /^(?=.*\/|.*\.(?:ts|mjs|sh|md)$)[\w{][\w.{},-]*(?:\/[\w.{},-]+)*\/?$/;

/** Made by the build. */
const MADE = /^dist(\/|$)/;

/**
 * Lists paths in backticks, and targets of relative links, that are neither a file nor a folder of the repository. A path in backticks may lack
 * its beginning (`loop/loop.ts`).
 *
 * @param document its own path, from the root of the repository
 * @param files all paths of files in the repository
 */
export function findMissingPaths(
  document: string,
  text: string,
  files: readonly string[],
): { line: number; path: string }[] {
  const known = makeKnown(files);
  return text.split('\n').flatMap((line, index) => {
    const named = [...line.matchAll(/`([^`]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => PATH.test(path) && !MADE.test(path))
      .flatMap(expandBraces)
      .filter((path) => !known.ends.has(path.replace(/\/$/, '')));
    const linked = [...line.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(([, target = '']) => posix.join(posix.dirname(document), target).replace(/\/$/, ''))
      .filter((path) => !known.whole.has(path));
    return [...named, ...linked].map((path) => ({ line: index + 1, path }));
  });
}

function expandBraces(path: string): string[] {
  const [, start = '', names, end = ''] = /^(.*?)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  return names === undefined ? [path] : names.split(',').flatMap((name) => expandBraces(`${start}${name}${end}`));
}

/** Files and folders, whole and without the beginnings of their paths. */
function makeKnown(files: readonly string[]): { whole: Set<string>; ends: Set<string> } {
  const whole = new Set<string>();
  for (const file of files) {
    for (let path = file; path !== '.' && !whole.has(path); path = posix.dirname(path)) whole.add(path);
  }
  const ends = new Set<string>();
  for (const path of whole) {
    const parts = path.split('/');
    parts.forEach((_, from) => ends.add(parts.slice(from).join('/')));
  }
  return { whole, ends };
}
