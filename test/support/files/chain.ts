// Chains of folders as a command makes them that enters each before it makes the next: their path may be longer than a system call takes.
import { closeSync, constants, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Calls `visit` with a place of the last folder, which is valid meanwhile. */
function inLast<T>(
  root: string,
  names: readonly string[],
  enter: (place: string) => void,
  visit: (place: string) => T,
): T {
  let folder = openSync(root, O_RDONLY | O_DIRECTORY);
  try {
    for (const name of names) {
      const place = `/proc/self/fd/${folder}/${name}`;
      enter(place);
      const next = openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      closeSync(folder);
      folder = next;
    }
    return visit(`/proc/self/fd/${folder}`);
  } finally {
    closeSync(folder);
  }
}

/** Makes a chain with a file at its end. */
export function makeChain(root: string, names: readonly string[], { name = 'f' } = {}): void {
  inLast(
    root,
    names,
    (place) => mkdirSync(place),
    (place) => writeFileSync(`${place}/${name}`, 'at the end'),
  );
}

/** The content of the file at the end of a chain. Throws ENOENT when it isn't there. */
export function readChain(root: string, names: readonly string[]): string {
  return inLast(
    root,
    names,
    () => undefined,
    (place) => readFileSync(`${place}/f`, 'utf8'),
  );
}

/** So many names of so many bytes. */
export const namesOf = (count: number, bytes: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => String(at % 10).repeat(bytes));
