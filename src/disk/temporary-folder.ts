// Temporary folders, named after the process that made them, so that a crash's leftovers can be distinguished from those in
// use.
import { readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from './remove-beneath.ts';

const NAME = /^errand-[a-z]+-(\d+)-(\d+)-(\d+)-/;

/** Makes a folder for temporary files, closed to other users; the caller removes it. `use` is a word, such as `browser`. */
export async function makeTemporaryFolder(use: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `errand-${use}-${pidNamespace()}-${process.pid}-${startOf(process.pid) ?? 0}-`));
}

/**
 * Removes the folders of processes that have ended. Keeps those of other live daemons, and those whose processes can't be seen
 * from here, such as in another container.
 */
export async function removeOrphanedFolders(): Promise<void> {
  const own = pidNamespace();
  for (const name of await readdir(tmpdir())) {
    const [, namespace, pid, start] = NAME.exec(name) ?? [];
    if (namespace !== own || startOf(Number(pid)) === start) continue;
    // Another user's folder can't be removed, and isn't ours.
    await removeTree(join(tmpdir(), name)).catch(() => undefined);
  }
}

/** Process ids are meaningful within their namespace only. */
function pidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
}

/** When a process started, in ticks since boot: an id may be reused. Undefined when the process does not exist. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The preceding name may contain any character; the 22nd field is the 20th after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
