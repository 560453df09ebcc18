// Reads the memory, the open files and the state of processes from /proc.
import { readdir, readFile, stat } from 'node:fs/promises';
import { KB } from '../../domain/byte-units.ts';

/** The unit in which the system reports how much of a disk a file takes. */
const BLOCK_BYTES = 512;

/** Whether a process has ended. A zombie has: the kernel has already ended everything in its pid namespace. */
export async function hasEnded(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // The state follows the name, which is in parentheses and may contain any character.
  return stat === undefined || /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

/**
 * Bytes of memory that a process and its descendants take, including swap. Memory that they share is first counted for each of
 * them; only if that exceeds the limit, it is divided among them, which takes longer to determine.
 */
export async function takenBytes(root: number, limitBytes: number): Promise<number> {
  let own = 0;
  const shared = new Map<number, number>();
  for (const pid of await treeOf(root)) {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    own += kilobytes(status, 'RssAnon') + kilobytes(status, 'VmSwap');
    const visible = kilobytes(status, 'RssShmem');
    if (visible > 0) shared.set(pid, visible);
  }
  let taken = own;
  for (const kilobytes of shared.values()) taken += kilobytes;
  if (taken * KB <= limitBytes) return taken * KB;
  for (const [pid, visible] of shared) taken += (await shareOf(pid, visible)) - visible;
  return taken * KB;
}

/** A process and all its descendants. */
async function treeOf(root: number): Promise<readonly number[]> {
  const queue = [root];
  for (const pid of queue) {
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const children = await readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => '');
      queue.push(...children.split(' ').filter(Boolean).map(Number));
    }
  }
  return queue;
}

/**
 * Kilobytes of a process's shared memory, each page divided by the number of its users; all of it when the kernel does not say.
 */
async function shareOf(pid: number, visible: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '');
  return rollup.includes('Pss_Shmem:') ? kilobytes(rollup, 'Pss_Shmem') : visible;
}

function kilobytes(status: string, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status);
  return Number(match?.[1] ?? 0);
}

/** Bytes of a disk that a process and its descendants use in deleted files. */
export async function deletedBytes(root: number, device: number): Promise<number> {
  const files = new Map<number, number>();
  for (const pid of await treeOf(root)) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const facts = await stat(`/proc/${pid}/fd/${fd}`).catch(() => undefined);
      if (facts?.isFile() === true && facts.nlink === 0 && facts.dev === device) {
        files.set(facts.ino, facts.blocks * BLOCK_BYTES);
      }
    }
  }
  let bytes = 0;
  for (const size of files.values()) bytes += size;
  return bytes;
}
