// Lists folders beneath a directory, and never follows a link out of it.
import { type Dirent, opendirSync } from 'node:fs';
import { descend, factsAt, type FileFacts, type Folder, partsBeneath } from './open-beneath.ts';
import { makeTurns } from './turns.ts';

/** One name in a directory. `exact` is false when the name on disk is not UTF-8, so that no path can reach it. */
export interface Entry extends FileFacts {
  readonly name: string;
  readonly exact: boolean;
}

/** The contents of a directory, sorted by name; `more` says that a limit left some out. */
export interface Listing {
  readonly entries: readonly Entry[];
  readonly more: boolean;
}

/** The names in an open directory, at most `limit` of them, as bytes. */
export async function namesIn(directory: Folder, limit: number): Promise<{ names: Buffer[]; more: boolean }> {
  const names: Buffer[] = [];
  const turns = makeTurns();
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: 256 };
  const open = opendirSync(`/proc/self/fd/${directory.fd}`, options);
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      if (names.length === limit) return { names, more: true };
      names.push((entry as unknown as Dirent<Buffer>).name);
      if (turns.isOver()) await turns.next();
    }
    return { names, more: false };
  } finally {
    open.closeSync();
  }
}

/** Lists a folder. Names that vanish meanwhile are left out. Throws not_found, bad_request (not a folder, a link). */
export async function readDirectoryBeneath(root: string, path: string, limit = 10_000): Promise<Listing> {
  const directory = await descend(root, partsBeneath(path));
  try {
    const { names, more } = await namesIn(directory, limit);
    const entries: Entry[] = [];
    const turns = makeTurns();
    for (const bytes of names) {
      const facts = factsAt(directory, bytes);
      const name = bytes.toString();
      if (facts !== undefined) entries.push({ name, exact: Buffer.from(name).equals(bytes), ...facts });
      if (turns.isOver()) await turns.next();
    }
    return { entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)), more };
  } finally {
    directory.close();
  }
}
