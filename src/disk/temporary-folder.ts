// Folders for a moment, named after the process that made them, so that what a crash leaves can be told from what is in use.
import { readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = /^errand-[a-z]+-(\d+)-(\d+)-(\d+)-/;

/** Makes a folder for temporary files, closed to other users; whoever makes it removes it. `use` is a word, such as `browser`. */
export async function makeTemporaryFolder(use: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `errand-${use}-${pidNamespace()}-${process.pid}-${startOf(process.pid) ?? 0}-`));
}

/**
 * Removes such folders of processes that are no more. Those of other daemons that live stay, and those that a process may have
 * made which can't be seen from here, as in another container.
 */
export async function removeOrphanedFolders(): Promise<void> {
  const own = pidNamespace();
  for (const name of await readdir(tmpdir())) {
    const [, namespace, pid, start] = NAME.exec(name) ?? [];
    if (namespace !== own || startOf(Number(pid)) === start) continue;
    // Another user's folder can't be removed, and is not one's own.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Ids of processes mean something within their namespace alone. */
function pidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
}

/** When a process began, in ticks since the system did: an id may be given again. Undefined when there is none. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before may hold anything; the 22nd field is the 20th after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
