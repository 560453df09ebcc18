// An initialised data directory for a daemon: a copy of the test run's own, or one that `errand init` makes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BINARY = fileURLToPath(new URL('../../../bin/errand', import.meta.url));

/** Where the run keeps its own directory and what `errand init` printed of it. */
const OF_THE_RUN = 'ERRAND_TEST_RUN';
const ADMIN_NAME = 'admin';

/** What `errand init` prints. */
export interface Created {
  readonly admin: { readonly user_id: string; readonly username: string; readonly password: string };
  readonly api_key: { readonly key: string };
}

/** A data directory at `dataDir` as `errand init` makes it. Those of one test run have the same administrator, key and master key. */
export function initialized(dataDir: string, adminName = ADMIN_NAME): Created {
  const run = process.env[OF_THE_RUN];
  if (run === undefined || adminName !== ADMIN_NAME) return initialize(dataDir, adminName);
  // With the modes of its folders.
  execFileSync('cp', ['-rp', join(run, 'data'), dataDir]);
  return JSON.parse(readFileSync(join(run, 'created.json'), 'utf8')) as Created;
}

function initialize(dataDir: string, adminName: string): Created {
  const args = ['init', '--data-dir', dataDir, '--admin', adminName, '-o', 'json'];
  const printed = execFileSync(BINARY, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return JSON.parse(printed) as Created;
}

/**
 * Before the first test of a run: initialises the directory that daemons get copies of, and lets their processes share
 * compiled code. Answers what removes both.
 */
export function setup(): () => void {
  const run = mkdtempSync(join(tmpdir(), 'errand-run-'));
  process.env['NODE_COMPILE_CACHE'] = join(run, 'code');
  writeFileSync(join(run, 'created.json'), JSON.stringify(initialize(join(run, 'data'), ADMIN_NAME)));
  process.env[OF_THE_RUN] = run;
  return () => rmSync(run, { recursive: true, force: true, maxRetries: 5 });
}
