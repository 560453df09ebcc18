// The names of files in archives of every kind.

/**
 * A name that is unique among `taken` and means the same file everywhere: unpackers treat backslashes as slashes, and strip
 * what looks like a drive. `path` begins with a slash.
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
