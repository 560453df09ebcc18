// What a backup or a restore leaves out: how much, and the first of it by name.
import type { LeftOutFile, ListedFile } from '../wire/backups/manifest.ts';

/** So many are named; the others are only counted. */
const MAX_NAMED = 20;
/** Of a longer path, the beginning and the end are named. */
const [BEGINNING, END] = [140, 50];

export interface LeftOut {
  readonly count: number;
  readonly named: readonly LeftOutFile[];
}

/** Adds up what is left out; `files`: how many, if a name stands for others. */
export function makeLeftOut(): LeftOut & { add(path: string, why: string, files?: number): void } {
  const named: LeftOutFile[] = [];
  let count = 0;
  return {
    get count() {
      return count;
    },
    named,
    add: (path, why, files = 1) => {
      count += files;
      if (named.length < MAX_NAMED) named.push({ path: shortened(path), why });
    },
  };
}

/** An entry of a list in a message: its path is shortened, and has no control characters. */
export const shownEntry = ({ kind, path }: Pick<ListedFile, 'kind' | 'path'>): string =>
  `${kind} ${kind === 'blob' ? path : JSON.stringify(shortened(path))}`;

function shortened(path: string): string {
  if (path.length <= BEGINNING + END + 1) return path;
  return `${path.slice(0, BEGINNING)}…${path.slice(-END)}`.toWellFormed();
}
