// Reads the memory and the fate of processes from /proc.
import { readdir, readFile } from 'node:fs/promises';

/** Whether a process has ended. A zombie has: the kernel has already ended all that lived in its pid namespace. */
export async function hasEnded(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The state follows the name, which is in parentheses and may hold anything.
  return stat === undefined || /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

/** Bytes of memory that a process and all beneath it have taken. What they share with each other counts once. */
export async function takenBytes(root: number): Promise<number> {
  let own = 0;
  let shared = 0;
  const queue = [root];
  for (const pid of queue) {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    own += kilobytes(status, 'RssAnon');
    shared = Math.max(shared, kilobytes(status, 'RssShmem'));
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const children = await readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => '');
      queue.push(...children.split(' ').filter(Boolean).map(Number));
    }
  }
  return (own + shared) * 1024;
}

function kilobytes(status: string, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status);
  return Number(match?.[1] ?? 0);
}
