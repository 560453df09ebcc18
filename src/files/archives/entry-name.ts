// What files are called in archives of every kind.

/**
 * A name that means the same file everywhere, other than those before it: programs that unpack take backslashes for slashes,
 * and cut off what looks like a drive. `path` begins with a slash.
 */
export function uniqueName(path: string, taken: Set<string>): string {
  let name = path
    .slice(1)
    .replaceAll('\\', '%5C')
    .replace(/^(\w+):/, '$1%3A');
  while (taken.has(name)) name += '~';
  taken.add(name);
  return name;
}
