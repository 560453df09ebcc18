// Control groups of sandboxes, against the kernel's own. Where this process may make none, the test is skipped and says so.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../../support/time/wait-for.ts';

const MOUNT = '/sys/fs/cgroup';
const main = fileURLToPath(new URL('../../support/agent/control-group-main.ts', import.meta.url));

/** Why no group can be made here for a process of its own; null when one can. */
function whyNot(): string | null {
  if (process.getuid?.() !== 0) return 'It takes root to make one.';
  try {
    const given = readFileSync(`${MOUNT}/cgroup.subtree_control`, 'utf8').trim().split(' ');
    return ['memory', 'pids'].every((name) => given.includes(name)) ? null : 'They do not hold memory here.';
  } catch {
    return 'There are none of version 2.';
  }
}

const why = whyNot();
if (why !== null) console.warn(`\n*** SKIPPED: control groups of sandboxes. ${why} ***\n`);

test.skipIf(why !== null)(
  'a sandbox is limited in memory and processes, whatever is visible of them, and leaves no group behind',
  { timeout: 120_000 },
  async () => {
    const group = `${MOUNT}/errand-test-${process.pid}`;
    mkdirSync(group);
    const remove = () => {
      for (const path of [`${group}/daemon`, group]) rmdirSync(path);
    };
    onTestFinished(() => waitFor(() => (remove(), true), { what: 'the group gone' }).then(() => undefined));
    const enter = `echo 0 >${group}/cgroup.procs; exec "$@"`;
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', enter, 'sh', process.execPath, main]);
    expect(JSON.parse(stdout)).toMatchObject({
      groups: group,
      own: expect.stringMatching(/\/daemon$/m),
      plain: { exitCode: 0, output: expect.stringMatching(/^done\n/) },
      hiding: { exitCode: null, stopped: 'memory', output: expect.not.stringContaining('unnoticed') },
      many: { output: expect.stringContaining('Resource temporarily unavailable') },
      ended: 'it was ended because it took too much memory',
      left: [],
    });
  },
);
