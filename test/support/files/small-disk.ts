// A small disk of its own for one test: a file system in memory, of which all but some bytes can be filled.
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from './temporary-directory.ts';

/** Mounting takes root and CAP_SYS_ADMIN. */
export const canMount =
  spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d && rmdir $d']).status === 0;

export interface SmallDisk {
  readonly path: string;
  /** Fills it, or frees what was filled, until so many bytes are free. */
  leave(bytes: number): void;
}

export function smallDisk(megabytes: number): SmallDisk {
  const path = temporaryDirectory();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
  onTestFinished(() => void execFileSync('umount', ['-l', path]));
  const filler = join(path, 'filler');
  return {
    path,
    leave: (bytes) => {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
    },
  };
}
