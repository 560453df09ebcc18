// The disk usage of a sandbox, against the real bubblewrap and real disks. Tests that need something missing are skipped,
// and say so.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SpaceLimits } from '../../../src/disk/disk-space.ts';
import { probeSandbox, runInSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { startInSandbox } from '../../../src/agent/sandbox/service.ts';
import { editFile } from '../../../src/agent/tools/edit-file.ts';
import { shell } from '../../../src/agent/tools/shell.ts';
import { writeFile } from '../../../src/agent/tools/write-file.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const MIB = 1_048_576;
const LIMITS = { timeoutMs: 60_000, maxOutputBytes: MIB, memoryBytes: 512 * MIB, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!probe.ok) console.warn(`\n*** SKIPPED: what commands take of the disk. ${probe.why} ***\n`);
const canMount =
  spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d && rmdir $d']).status === 0;
if (!canMount) console.warn('SKIPPED: disks that are almost full. Mounting needs root and CAP_SYS_ADMIN.');

const QUOTA: SpaceLimits = { quotaBytes: 20 * MIB, keepFreeBytes: 0 };
const signal = new AbortController().signal;

/** A small disk of the test's own, with a workspace on it. */
function smallDisk(megabytes: number): string {
  const disk = mkdtempSync(join(tmpdir(), 'errand-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', disk]);
  onTestFinished(() => {
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });
  mkdirSync(join(disk, 'workspace'));
  return join(disk, 'workspace');
}

describe.skipIf(!probe.ok)('a command', () => {
  const grant = probe.ok ? probe.grant : undefined;
  const run = (workspace: string, command: string, space: SpaceLimits = QUOTA) =>
    runInSandbox({ ...grant!, space }, { workspace, command, signal });
  const tool = (workspace: string, space: SpaceLimits = QUOTA) => ({
    workspace,
    workspaceOwner: grant!.owner,
    sandbox: { ...grant!, space },
    space,
    skills: [],
    egress: [],
    readDocument: async () => null,
    callId: 'call',
    signal,
  });
  /** Grows by a megabyte at a time until it is ended. */
  const GROW = 'i=0; while :; do i=$((i+1)); head -c 1000000 /dev/urandom >part$i; sleep 0.02; done';

  test('that fills its workspace is ended at the quota, in words, and can be made up for', async () => {
    const workspace = temporaryDirectory();
    const result = await shell.execute({ command: GROW }, tool(workspace));
    expect(result).toMatchObject({
      ok: false,
      output: expect.stringMatching(/the workspace may take 20 MB, .*remove/),
    });
    // A workspace over its limit may not grow, but may shrink.
    const before = readdirSync(workspace).length;
    expect(await run(workspace, 'echo more >more')).toMatchObject({ signal: 'SIGXFSZ' });
    expect(await run(workspace, 'rm part*; ls -A')).toMatchObject({ exitCode: 0 });
    expect(await run(workspace, 'echo again >again; cat again')).toMatchObject({ exitCode: 0, output: 'again\n' });
    expect(before).toBeGreaterThan(15);
  });

  test('that writes one large file has it cut at the quota', async () => {
    const workspace = temporaryDirectory();
    const result = await shell.execute({ command: 'exec head -c 50000000 /dev/zero >large' }, tool(workspace));
    expect(result.ok).toBe(false);
    expect(statSync(join(workspace, 'large')).size).toBeLessThanOrEqual(20 * MIB);
  });

  test('that is quicker than any look is found out when it has ended', async () => {
    const workspace = temporaryDirectory();
    const result = await run(workspace, 'for i in 1 2 3; do head -c 9000000 /dev/urandom >part$i; done');
    expect(result.stopped).toBe('quota');
    expect(await run(workspace, 'echo more >more')).toMatchObject({ signal: 'SIGXFSZ' });
  });

  test('is found out even if as much is removed from the disk meanwhile', async () => {
    const [workspace, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
    writeFileSync(join(elsewhere, 'large'), Buffer.alloc(60 * MIB, 1));
    const waits = 'echo >started; until [ -e go ]; do sleep 0.01; done';
    const ended = run(workspace, `${waits}; for i in 1 2 3; do head -c 9000000 /dev/urandom >part$i; done`);
    await vi.waitFor(() => statSync(join(workspace, 'started')), { timeout: 60_000 });
    rmSync(join(elsewhere, 'large'));
    writeFileSync(join(workspace, 'go'), '');
    expect(await ended).toMatchObject({ stopped: 'quota' });
  });

  test('that hides its files, open but without a name or in a closed folder, is ended all the same', async () => {
    const hidden =
      'for i in 1 2 3; do eval "exec $((i+10))>gone$i"; rm gone$i; head -c 9000000 /dev/urandom >&$((i+10)); done';
    expect(await run(temporaryDirectory(), `${hidden}; sleep 50`)).toMatchObject({ stopped: 'quota' });
    const closed = 'mkdir closed; for i in 1 2 3; do head -c 9000000 /dev/urandom >closed/part$i; done; chmod 0 closed';
    expect(await run(temporaryDirectory(), `${closed}; sleep 50`)).toMatchObject({ stopped: 'quota' });
  });

  test('a service that fills the workspace is ended, and says why', async () => {
    const workspace = temporaryDirectory();
    const argv = ['/bin/sh', '-c', `cd /workspace; ${GROW}`];
    const service = await startInSandbox(
      { ...grant!, space: QUOTA },
      { workspace, argv, env: {}, network: false, mounts: [] },
    );
    expect(await service.ended).toBe('it was ended because the workspace took more of the disk than it may');
  });

  test.skipIf(!canMount)(
    'on a disk that is almost full is ended in words, while what it left can be removed',
    async () => {
      const workspace = smallDisk(64);
      const space: SpaceLimits = { quotaBytes: 2048 * MIB, keepFreeBytes: 32 * MIB };
      const ended = await shell.execute({ command: GROW }, tool(workspace, space));
      expect(ended).toMatchObject({
        ok: false,
        output: expect.stringMatching(/stopped: the disk is almost full: 32 MB/),
      });
      expect(await writeFile.execute({ path: 'a.txt', content: 'a' }, tool(workspace, space))).toMatchObject({
        ok: false,
        output: expect.stringMatching(/^Nothing was written: the disk is almost full/),
      });
      expect(await run(workspace, 'rm part*', space)).toMatchObject({ exitCode: 0 });
      expect(await writeFile.execute({ path: 'a.txt', content: 'a' }, tool(workspace, space))).toMatchObject({
        ok: true,
      });
    },
  );

  test('files that tools write count as those of commands do', async () => {
    const workspace = temporaryDirectory();
    const content = 'x'.repeat(9 * MIB);
    const put = (path: string) => writeFile.execute({ path, content }, tool(workspace));
    expect([(await put('1')).ok, (await put('2')).ok]).toEqual([true, true]);
    expect(await put('3')).toMatchObject({
      ok: false,
      output: expect.stringMatching(/^Nothing was written: .* 20 MB/),
    });
    expect(
      await editFile.execute({ path: '1', old_text: content, new_text: `${content}y` }, tool(workspace)),
    ).toMatchObject({
      ok: false,
    });
    rmSync(join(workspace, '2'));
    writeFileSync(join(workspace, 'note'), '');
    expect((await put('3')).ok).toBe(true);
    expect(readdirSync(workspace).toSorted()).toEqual(['1', '3', 'note']);
  });
});
