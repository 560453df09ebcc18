// Finds processes of this machine that belong to a data directory: by their folder, their mounts, or a mark in their arguments.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/**
 * Every live process whose working directory is beneath `directory`, whose arguments contain it or `marker`, or that has one
 * of its workspaces mounted, as all in a sandbox do.
 */
export async function findProcesses(directory: string, marker: string): Promise<FoundProcess[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      if (pid === process.pid) return [];
      const [command, mounts, folder] = await Promise.all([
        readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
        readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => ''),
        readlink(`/proc/${pid}/cwd`).catch(() => ''),
      ]);
      // Mounts are named by their path within their file system. Other daemons have a directory with the same last name.
      const place = join('/', basename(dirname(directory)), basename(directory), 'workspaces/');
      const isInside = mounts.includes(place);
      const belongs =
        isInside || command.includes(marker) || command.includes(directory) || folder.startsWith(directory);
      return belongs ? [{ pid, command: shorten(command.replaceAll('\0', ' ').trim()) }] : [];
    }),
  );
  return found.flat();
}

/** The sandbox's arguments fill a page, and end with the command. */
function shorten(command: string): string {
  return command.length <= 260 ? command : `${command.slice(0, 130)} … ${command.slice(-120)}`;
}
