// An initialised data directory for a daemon: a copy of the test run's own, or one that `errand init` makes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseFor, INITIALIZED, isPostgres } from '../postgres/shared-cluster.ts';

export const BINARY = fileURLToPath(new URL('../../../bin/errand', import.meta.url));

/** Where the run keeps its own directory on an engine and what `errand init` printed of it. */
const variableOf = (onPostgres: boolean) => (onPostgres ? 'ERRAND_TEST_RUN_POSTGRES' : 'ERRAND_TEST_RUN');
const ADMIN_NAME = 'admin';

/** What `errand init` prints. */
export interface Created {
  readonly admin: { readonly user_id: string; readonly username: string; readonly password: string };
  readonly api_key: { readonly key: string };
}

interface Initial {
  readonly adminName?: string;
  /** Address of an empty PostgreSQL database. */
  readonly database?: string;
}

/** A data directory at `dataDir` as `errand init` makes it. Those of one test run have the same administrator, key and master key. */
export function initialized(dataDir: string, { adminName = ADMIN_NAME, database }: Initial = {}): Created {
  const run = process.env[variableOf(isPostgres)];
  if (run === undefined || adminName !== ADMIN_NAME || database !== undefined) {
    const own = database ?? (isPostgres ? databaseOf(dataDir) : undefined);
    return initialize(dataDir, adminName, own);
  }
  // With the modes of its folders.
  execFileSync('cp', ['-rp', join(run, 'data'), dataDir]);
  if (isPostgres) databaseOf(dataDir, INITIALIZED);
  return JSON.parse(readFileSync(join(run, 'created.json'), 'utf8')) as Created;
}

/** The address of the database of a daemon in these tests. */
export const databaseOf = (dataDir: string, template?: string): string =>
  databaseFor(join(dataDir, 'errand.db'), template);

function initialize(dataDir: string, adminName: string, database: string | undefined): Created {
  const args = ['init', '--data-dir', dataDir, '--admin', adminName, '-o', 'json'];
  const env = { ...process.env, ...(database !== undefined && { ERRAND_DATABASE: database }) };
  const printed = execFileSync(BINARY, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return JSON.parse(printed) as Created;
}

/** Before the first test of a run: initialises the directory that daemons get copies of. Answers what removes it. */
export const setup = (): (() => void) => initializeRun(undefined);

/** The same with the rows in an empty PostgreSQL database. */
export function initializeRun(database: string | undefined): () => void {
  const run = mkdtempSync(join(tmpdir(), 'errand-run-'));
  writeFileSync(join(run, 'created.json'), JSON.stringify(initialize(join(run, 'data'), ADMIN_NAME, database)));
  process.env[variableOf(database !== undefined)] = run;
  return () => rmSync(run, { recursive: true, force: true, maxRetries: 5 });
}
