// The programs of PostgreSQL on this machine, and the user that they run as.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian's newest server, or the one on the search path; null without. */
const DIRECTORY = findDirectory();

function findDirectory(): string | null {
  const version = (directory: string) => Number(/(\d+)\/bin$/.exec(directory)?.[1]);
  const ofDebian = globSync('/usr/lib/postgresql/*/bin').sort((one, other) => version(other) - version(one));
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  return [...ofDebian, ...onPath].find((directory) => existsSync(join(directory, 'initdb'))) ?? null;
}

/** Whether there is a server to test against. Says so loudly when there isn't. */
export function canRunPostgres(): boolean {
  if (DIRECTORY !== null) return true;
  console.warn('\n*** SKIPPED: on PostgreSQL. It is not installed: apt-get install postgresql ***\n');
  return false;
}

/** The path of one of its programs. */
export function programOf(name: 'initdb' | 'postgres' | 'psql' | 'pg_dump' | 'pg_basebackup'): string {
  if (DIRECTORY === null) throw new Error('PostgreSQL is not installed.');
  return join(DIRECTORY, name);
}

/** User and group of the server, which refuses to run as root. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  return idsOf('postgres') ?? idsOf('nobody') ?? { uid: 65_534, gid: 65_534 };
}

function idsOf(name: string): ServerUser | null {
  try {
    const [uid, gid] = ['-u', '-g'].map((which) => Number(execFileSync('id', [which, name], { stdio: 'pipe' })));
    return { uid: uid!, gid: gid! };
  } catch {
    return null;
  }
}
