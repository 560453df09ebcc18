// What the kernel counts per user: a command that takes all it can get leaves enough to the daemon and to other commands.
import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxGrant } from '../../../src/agent/port/grants.ts';
import { ownLimit } from '../../../src/agent/sandbox/own-limits.ts';
import { probeSandbox, runInSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { ownerFor, SANDBOX_OWNER, SANDBOX_USERS } from '../../../src/agent/sandbox/users.ts';
import { planSandbox } from '../../../src/agent/sandbox/walls.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const LIMITS = { timeoutMs: 60_000, maxOutputBytes: 65_536, memoryBytes: 2 ** 30, maxProcesses: 64 };
const [EAGAIN, ENOMEM, EMFILE, ENOSPC, ENOSYS] = [11, 12, 24, 28, 38];
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
const script = new URL('../../support/agent/take-counted.pl', import.meta.url).pathname;
const WATCHES = '/proc/sys/fs/epoll/max_user_watches';

function whyNot(): string | null {
  if (!probe.ok) return probe.why;
  return existsSync('/usr/bin/perl') ? null : 'There is no /usr/bin/perl.';
}
const why = whyNot();
if (why !== null) console.warn(`\n*** SKIPPED: what the kernel counts per user. ${why} ***\n`);
const whyNotTwo = why ?? (process.getuid?.() === 0 ? null : 'It takes root to have users for commands.');
if (why === null && whyNotTwo !== null)
  console.warn(`\n*** SKIPPED: commands of several kernel users. ${whyNotTwo} ***\n`);

type Taken = Readonly<Record<string, { readonly taken: number; readonly error: number }>>;

function read(output: string): Taken {
  const rows = output
    .split('\n')
    .slice(0, -1) // What follows the last line break has not been written yet.
    .map((line) => line.split(' ')); // NAME TAKEN ERROR
  return Object.fromEntries(rows.map(([name, taken, error]) => [name, { taken: Number(taken), error: Number(error) }]));
}

/** A sandbox with a workspace of its own, as a run has one. */
function tenant(changes: Partial<SandboxGrant> = {}) {
  const workspace = temporaryDirectory();
  writeFileSync(join(workspace, 'take.pl'), readFileSync(script));
  const grant = { ...(probe.ok ? probe.grant : null!), ...changes };
  const run = (command: string) => runInSandbox(grant, { workspace, command, signal: new AbortController().signal });
  return {
    workspace,
    run,
    take: async (...wanted: string[]) => read((await run(`/usr/bin/perl take.pl ${wanted.join(' ')}`)).output),
  };
}

/** Takes all that one command gets, and keeps it until the test has finished; answers what it got. */
async function takeAll(greedy: ReturnType<typeof tenant>, ...wanted: string[]): Promise<Taken> {
  const taking = greedy.run(`/usr/bin/perl take.pl ${wanted.join(' ')} HOLD | tee taken`);
  onTestFinished(async () => {
    writeFileSync(join(greedy.workspace, 'stop'), '');
    await taking;
  });
  // `tee` may be later than the file that says so.
  const found = () => read(readFileSync(join(greedy.workspace, 'taken'), 'utf8'));
  const isFull = () => existsSync(join(greedy.workspace, 'full')) && Object.keys(found()).length === wanted.length;
  await waitFor(isFull, { what: 'all taken', timeoutMs: 40_000 });
  return found();
}

describe.skipIf(why !== null)('a command that takes all it can get', () => {
  test('of each count has a limit of its own, and leaves what another command of the same kernel user needs', async () => {
    const greedy = tenant();
    const taken = await takeAll(
      greedy,
      'instances=5000',
      'signals=200000',
      'queues=5000',
      'locked=5000',
      'processes=5000',
      'pipes=400',
    );
    expect(taken).toMatchObject({
      instances: { taken: 16, error: EMFILE },
      signals: { error: EAGAIN },
      queues: { taken: 0, error: ENOSYS },
      locked: { error: ENOMEM },
      processes: { error: EAGAIN },
    });
    expect(taken['signals']!.taken).toBeLessThanOrEqual(128);
    expect(taken['locked']!.taken).toBeLessThanOrEqual(4);
    expect(taken['processes']!.taken).toBeLessThan(LIMITS.maxProcesses);

    const wanted = { instances: 12, signals: 100, locked: 3, processes: 20, pipes: 200 };
    const words = Object.entries(wanted).map(([name, most]) => `${name}=${most}`);
    const other = await tenant().take(...words);
    // The daemon itself.
    const { stdout } = await promisify(execFile)('/usr/bin/perl', [script, ...words], { cwd: temporaryDirectory() });
    for (const got of [other, read(stdout)])
      expect(got).toEqual(
        Object.fromEntries(Object.entries(wanted).map(([name, most]) => [name, { taken: most, error: 0 }])),
      );
  });

  test('gets no watches of files where no namespace limits them, and runs as well as otherwise', async () => {
    const plain = tenant({ watches: 'refused' });
    expect(await plain.take('instances=1', 'signals=1000')).toMatchObject({
      instances: { taken: 0, error: ENOSYS },
      signals: { taken: 128, error: EAGAIN },
    });
    expect(await plain.run('id -u; echo done')).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(/done\n$/),
    });
  });
});

describe.skipIf(whyNotTwo !== null)('commands of different users', () => {
  const owned = (userSeq: number) => tenant({ owner: ownerFor(SANDBOX_OWNER, userSeq) });

  test('are of different kernel users, none of which is the daemon’s', async () => {
    const ids = await Promise.all([1, 2].map(async (seq) => (await owned(seq).run('id -u')).output.trim()));
    expect(ids).toEqual(['61002', '61003']);
    expect(ownerFor(null, 7)).toBe(null);
    const all = new Set(Array.from({ length: 1_000 }, (_, seq) => ownerFor(SANDBOX_OWNER, seq)!.uid));
    expect([Math.min(...all), Math.max(...all)]).toEqual([61_001, 61_000 + SANDBOX_USERS - 1]);
  });

  test('do not take each other’s watches of epoll, nor the daemon’s', async ({ skip }) => {
    const before = readFileSync(WATCHES, 'utf8');
    try {
      // Otherwise some millions have to be taken.
      writeFileSync(WATCHES, '60000');
    } catch {
      skip('*** SKIPPED: /proc/sys is read-only. ***');
    }
    onTestFinished(() => writeFileSync(WATCHES, before));
    const greedy = owned(1);
    expect(await takeAll(greedy, 'watches=1000000')).toMatchObject({ watches: { error: ENOSPC } });
    expect(await owned(1).take('watches=1')).toEqual({ watches: { taken: 0, error: ENOSPC } });
    expect(await owned(2).take('watches=20000')).toEqual({ watches: { taken: 20_000, error: 0 } });
    const { stdout } = await promisify(execFile)('/usr/bin/perl', [script, 'watches=20000'], {
      cwd: temporaryDirectory(),
    });
    expect(read(stdout)).toEqual({ watches: { taken: 20_000, error: 0 } });
  });

  test('get a workspace that was another’s with all that is in it, and nothing that its links lead to', async () => {
    const [one, outside] = [owned(3), temporaryDirectory()];
    mkdirSync(join(one.workspace, 'old/er'), { recursive: true, mode: 0o700 });
    writeFileSync(join(one.workspace, 'old/er/file'), 'before', { mode: 0o600 });
    writeFileSync(join(outside, 'kept'), '');
    symlinkSync(outside, join(one.workspace, 'old/link'));
    chownSync(join(one.workspace, 'old/er'), 61_009, 61_009);
    expect(await one.run('echo after >>old/er/file; cat old/er/file')).toMatchObject({ output: 'beforeafter\n' });
    for (const path of [outside, join(outside, 'kept')]) expect((await lstat(path)).uid).toBe(0);
  });
});

test('where commands have the daemon’s user, all of them together leave it a fourth of its processes', async () => {
  const grant = { ...LIMITS, bwrap: '/usr/bin/bwrap', groups: null, watches: 'limited', space: null } as const;
  const task = { kind: 'command', command: 'true', timeoutMs: 1_000 } as const;
  const wordsFor = async (owner: SandboxGrant['owner']) =>
    (await planSandbox({ ...grant, owner }, { workspace: '/w', mounts: [], task })).args.join(' ');
  const own = ownLimit('Max processes', 'soft');
  const shared = Number.isFinite(own) ? `prlimit --nproc=${Math.floor(own * 0.75)}: unshare ` : 'sh unshare ';
  expect(await wordsFor(null)).toContain(shared);
  expect(await wordsFor(SANDBOX_OWNER)).not.toMatch(/--nproc=\d+: /);
});

test('a limit of this process is read as the kernel shows it', () => {
  const limits = `Limit                     Soft Limit           Hard Limit           Units
Max processes             7823                 unlimited            processes
Max open files            1024                 524288               files
`;
  expect(ownLimit('Max processes', 'soft', limits)).toBe(7_823);
  expect(ownLimit('Max processes', 'hard', limits)).toBe(Infinity);
  expect(ownLimit('Max open files', 'hard', limits)).toBe(524_288);
  expect(ownLimit('Max locked memory', 'hard', limits)).toBe(Infinity);
});
