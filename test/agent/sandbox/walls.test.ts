import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { FD } from '../../../src/agent/sandbox/scripts.ts';
import { planSandbox, type SandboxPlan } from '../../../src/agent/sandbox/walls.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const limits = { timeoutMs: 120_000, maxOutputBytes: 65_536, memoryBytes: 2 ** 30, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...limits });
if (!probe.ok) process.stderr.write(`SKIPPED: no sandbox here: ${probe.why}\n`);

/** Starts a sandbox as its daemon does, with all that bubblewrap wants but the made file of groups. */
function launch({ program, args, papers }: SandboxPlan) {
  const stdio = Array.from({ length: Math.max(...papers.keys()) + 1 }, (_, fd) => (fd < 3 ? 'ignore' : 'pipe'));
  const child = spawn(program, args, { cwd: '/', detached: true, stdio });
  const streams = child.stdio as unknown as (Readable & Writable)[];
  let report = '';
  streams[FD.status]!.setEncoding('utf8').on('data', (text: string) => (report += text));
  for (const stream of streams.slice(3)) stream.on('error', () => undefined);
  for (const [fd, paper] of papers) if (fd !== FD.group) streams[fd]!.end(paper);
  const complete = () => void streams[FD.group]!.end(papers.get(FD.group));
  return { child, lifeline: streams[FD.lifeline]!, complete, closed: once(child, 'close').then(() => report) };
}

/** Living processes of a process group. */
async function groupOf(leader: number | undefined): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')));
  const fieldsOf = (stat: string) => stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return pids.filter((_, i) => {
    const [state, , group] = fieldsOf(stats[i]!);
    return group === String(leader) && state !== 'Z';
  });
}

/** Those of some processes that a process has started and that are bubblewrap. */
async function childrenOf(parent: number | undefined, pids: readonly string[]): Promise<number[]> {
  const found = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
      return status.includes('Name:\tbwrap\n') && status.includes(`PPid:\t${parent}\n`) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

test.skipIf(!probe.ok)(
  'a sandbox that loses its daemon while it is being built is gone at once, and runs nothing',
  async () => {
    if (!probe.ok) return;
    const workspace = temporaryDirectory();
    const { owner } = probe.grant;
    if (owner !== null) chownSync(workspace, owner.uid, owner.gid);
    const plan = await planSandbox(probe.grant, {
      workspace,
      mounts: [],
      task: { kind: 'command', command: 'touch ran', timeoutMs: limits.timeoutMs },
    });
    // bubblewrap waits for the files that it reads from its descriptors: so far it has come, and no further.
    const orphan = launch(plan);
    await waitFor(async () => (await groupOf(orphan.child.pid)).length >= 4, { what: 'bubblewrap and its child' });
    orphan.lifeline.destroy();
    await waitFor(async () => (await groupOf(orphan.child.pid)).length === 0, { what: 'all of them gone' });
    orphan.complete();
    expect(await orphan.closed).not.toContain('exit-code');
    expect(existsSync(join(workspace, 'ran'))).toBe(false);

    const whole = launch(plan);
    whole.complete();
    expect(await whole.closed).toContain('"exit-code": 0');
    expect(existsSync(join(workspace, 'ran'))).toBe(true);
    expect(await groupOf(whole.child.pid)).toEqual([]);
  },
);

test.skipIf(!probe.ok)(
  'processes of a bubblewrap that is killed while it builds a sandbox end with the lifeline',
  async () => {
    if (!probe.ok) return;
    const workspace = temporaryDirectory();
    const { owner } = probe.grant;
    if (owner !== null) chownSync(workspace, owner.uid, owner.gid);
    const plan = await planSandbox(probe.grant, {
      workspace,
      mounts: [],
      task: { kind: 'command', command: 'touch ran', timeoutMs: limits.timeoutMs },
    });
    const { child, lifeline, closed } = launch(plan);
    const ended = once(child, 'exit');
    await waitFor(async () => (await groupOf(child.pid)).length >= 4, { what: 'bubblewrap and its child' });
    const [bubblewrap] = await childrenOf(child.pid, await groupOf(child.pid));
    // As when it reports to a daemon that has died a moment before.
    process.kill(bubblewrap!, 'SIGPIPE');
    await ended;
    lifeline.destroy();
    await waitFor(async () => (await groupOf(child.pid)).length === 0, { what: 'all of them gone' });
    await closed;
  },
);
