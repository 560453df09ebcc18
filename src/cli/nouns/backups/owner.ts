// Who gets what is restored: the daemon usually runs as another user than the one who restores.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Owner } from '../../../disk/make-beneath.ts';
import { CommandError } from '../../frame/exit-codes.ts';

/** The named user, otherwise the owner of the data directory if it is there; null: whoever restores. Throws `usage`. */
export function ownerOf(dataDir: string, name: string | undefined): Owner | null {
  if (name !== undefined) return userOf(name);
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  return process.getuid?.() !== 0 || stats === undefined || stats.uid === 0 ? null : { uid: stats.uid, gid: stats.gid };
}

function userOf(name: string): Owner {
  if (process.getuid?.() !== 0) throw new CommandError('usage', '--owner is for root: only root can give files away.');
  const [uid, gid] = ['-u', '-g'].map((which) => {
    const { status, stdout } = spawnSync('id', [which, '--', name], { encoding: 'utf8', timeout: 10_000 });
    if (status !== 0) throw new CommandError('usage', `--owner must be a user of this machine, not ${name}.`);
    return Number(stdout);
  }) as [number, number];
  return { uid, gid };
}
