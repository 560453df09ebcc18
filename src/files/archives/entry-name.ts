// The names of files in archives of every kind.

/**
 * Gives each file of an archive a name that no other has and that means the same everywhere: unpackers treat backslashes as
 * slashes, and strip what looks like a drive. Paths begin with a slash.
 */
export function makeEntryNames(): (path: string) => string {
  const taken = new Set<string>();
  /** The last numbers of names that became the same. Without them, each would be compared with all before it. */
  const numbers = new Map<string, number>();
  return (path) => {
    const wanted = path
      .slice(1)
      .replaceAll('\\', '%5C')
      .replace(/^(\w+):/, '$1%3A');
    let name = wanted;
    for (let number = numbers.get(wanted) ?? 1; taken.has(name); number += 1) {
      name = number === 1 ? `${wanted}~` : `${wanted}~${number}`;
      numbers.set(wanted, number + 1);
    }
    taken.add(name);
    return name;
  };
}
