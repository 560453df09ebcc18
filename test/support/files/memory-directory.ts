// Has tests write to memory where the machine has much of it: on a disk, each commit waits for it.
import { readFileSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';

const DIRECTORY = '/dev/shm';
const ENOUGH_BYTES = 8 * 2 ** 30;

/** For this process and those that it starts, unless another directory for temporary files was given. */
export function useMemoryDirectory(): void {
  if (process.env['TMPDIR'] === undefined && isFit()) process.env['TMPDIR'] = DIRECTORY;
}

/** Tests also execute what they write. */
function isFit(): boolean {
  if (process.platform !== 'linux') return false;
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const [, , kind, options = ''] = mounts.findLast((line) => line.split(' ')[1] === DIRECTORY)?.split(' ') ?? [];
  if (kind !== 'tmpfs' || options.split(',').includes('noexec')) return false;
  const { bavail, bsize } = statfsSync(DIRECTORY);
  return Math.min(bavail * bsize, freemem()) >= ENOUGH_BYTES;
}
