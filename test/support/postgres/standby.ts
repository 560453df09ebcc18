// A standby of a cluster: a second server that follows the first one.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, makeCluster, SUPERUSER, writeSettings } from './cluster.ts';
import { programOf, serverUser } from './programs.ts';

/** What a cluster must be set to, to have standbys. */
export const WITH_STANDBYS = { wal_level: 'replica', max_wal_senders: 4 };

/** Starts one, on its own socket. */
export async function startStandby(of: Cluster): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), 'errand-pg-standby-'));
  const user = serverUser();
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid!);
  const data = join(directory, 'data');
  const standby = makeCluster(directory, null, '');
  try {
    const where = ['-h', of.directory, '-p', String(of.port ?? 5432), '-U', SUPERUSER, '-D', data];
    const how = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync', '--wal-method=stream'];
    execFileSync(programOf('pg_basebackup'), [...where, ...how], { ...user, cwd: '/', stdio: 'pipe' });
    writeSettings(data, { unix_socket_directories: `'${directory}'`, listen_addresses: "''" });
    await standby.start();
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return standby;
}
