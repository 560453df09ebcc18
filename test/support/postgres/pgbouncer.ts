// A PgBouncer of its own in front of a cluster, which ends with the test.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { waitFor } from '../time/wait-for.ts';
import { type Cluster, ROLE } from './cluster.ts';
import { serverUser } from './programs.ts';

const PORT = 6432;
const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path));

/** Whether there is one. Says so loudly when there isn't. */
export function canRunPgBouncer(): boolean {
  if (PROGRAM !== undefined && spawnSync(PROGRAM, ['--version']).status === 0) return true;
  console.warn('\n*** SKIPPED: behind PgBouncer. It is not installed: apt-get install pgbouncer ***\n');
  return false;
}

/** Answers the address of a database through it. */
export async function startPgBouncer(
  cluster: Cluster,
  settings: Readonly<Record<string, string | number>>,
): Promise<(database: string) => string> {
  const directory = mkdtempSync(join(tmpdir(), 'errand-pgbouncer-'));
  const { uid, gid } = serverUser();
  if (uid !== undefined) chownSync(directory, uid, gid!);
  const own = {
    listen_port: PORT,
    unix_socket_dir: directory,
    auth_type: 'trust',
    auth_file: join(directory, 'users'),
  };
  const lines = Object.entries({ ...own, ...settings }).map(([name, value]) => `${name} = ${value}`);
  const target = `* = host=${cluster.directory} port=${cluster.port ?? 5432}`;
  writeFileSync(join(directory, 'users'), `"${ROLE}" ""\n`);
  writeFileSync(join(directory, 'ini'), `[databases]\n${target}\n[pgbouncer]\n${lines.join('\n')}\n`);
  const child = spawn(PROGRAM!, ['-q', join(directory, 'ini')], { ...serverUser(), cwd: '/', stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGQUIT');
    await ended;
    rmSync(directory, { recursive: true });
  });
  await waitFor(() => existsSync(join(directory, `.s.PGSQL.${PORT}`)), { what: 'PgBouncer listens' });
  return (database) => `postgres://${ROLE}@/${database}?host=${encodeURIComponent(directory)}&port=${PORT}`;
}
