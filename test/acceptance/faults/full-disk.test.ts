// A real disk that agents fill: new turns are refused, while stopping, deleting and cleaning up still work.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { makeClient } from '../../../src/client/client.ts';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { openTurn, takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const MIB = 1_048_576;
const KEEP_FREE_MB = 48;
const LIMITS = { timeoutMs: 60_000, maxOutputBytes: MIB, memoryBytes: 512 * MIB, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
const canMount =
  spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d && rmdir $d']).status === 0;
if (!canMount) console.warn('\n*** SKIPPED: full disks. Mounting needs root and CAP_SYS_ADMIN. ***\n');
if (!probe.ok) console.warn(`\n*** SKIPPED: a command that fills the disk. ${probe.why} ***\n`);

describe.skipIf(!canMount)('a disk of its own', () => {
  let model: ModelServer;
  let daemon: DaemonProcess;
  let disk: string;
  let closers: (() => unknown)[] = [];

  beforeEach(async () => {
    disk = mkdtempSync(join(tmpdir(), 'errand-disk-'));
    closers = [() => rmSync(disk, { recursive: true })];
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', disk]);
    // Also while a process that is ending has just something open there.
    closers.push(() => execFileSync('umount', ['--lazy', disk]));
    model = await startModelServer();
    closers.push(() => model.close());
    const errandYaml = `disk: { keep_free_mb: ${KEEP_FREE_MB} }\nstreams: { drain_seconds: 1 }\n`;
    daemon = await startDaemonProcess({ modelServerUrl: model.url, within: disk, errandYaml });
    closers.push(() => daemon.close());
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });
  const ask = (content: string) => takeTurn(target(), { content, protocol: 'messages' });
  const call = (method: string, path: string) =>
    fetch(`${daemon.url}/openapi/v1${path}`, { method, headers: { authorization: `Bearer ${daemon.apiKey}` } });
  /** The status of a request of the operator. */
  const bySocket = (method: string, path: string) =>
    new Promise<number>((resolve, reject) => {
      request({ socketPath: daemon.socketPath, method, path: `/api/v1${path}` }, (reply) => {
        reply.resume();
        resolve(reply.statusCode!);
      })
        .once('error', reject)
        .end();
    });
  const readyz = async () => {
    const response = await fetch(`${daemon.url}/readyz`);
    return { status: response.status, body: (await response.json()) as object };
  };
  const workspaceOf = (sessionId: string) => join(daemon.dataDir, 'workspaces', sessionId);
  const sessionOf = async (runId: string | null) =>
    rowsOf<{ id: string }>(
      daemon,
      'SELECT s.id FROM sessions s JOIN runs r ON r.session_seq = s.seq WHERE r.id = ?',
      runId!,
    )[0]!.id;

  const PAGE = { name: 'write_file', input: { path: '/index.html', content: '<h1>Tides</h1>' } };

  /** A page of a scheduled task that is due in a moment. */
  async function publishingTask() {
    const task = { name: 'Tides', cron: '0 7 29 2 *', timezone: 'UTC', prompt: 'Publish it.' };
    const made = (await daemon.admin('POST', '/api/v1/scheduled-tasks', task)) as { scheduled_task_id: string };
    const taskId = made.scheduled_task_id;
    const page = { name: 'Tides', scheduled_task_id: taskId, entry_path: '/index.html' };
    const { publish_key: pageKey } = (await daemon.admin('POST', '/api/v1/publishes', page)) as { publish_key: string };
    const database = new Connection(join(daemon.dataDir, 'errand.db'), { timeout: 5_000 });
    const dueAt = Date.now() + 3_000;
    database.prepare('UPDATE scheduled_tasks SET next_fire_at = ?, look_at = ?').run(dueAt, dueAt);
    database.close();
    return { taskId, pageKey };
  }

  function fill(): void {
    const filler = openSync(join(disk, 'filler'), 'a');
    for (const bytes of [MIB, 4_096]) {
      try {
        while (writeSync(filler, Buffer.alloc(bytes, 1)) === bytes);
      } catch {
        // Nothing is left for a piece of that size.
      }
    }
    closeSync(filler);
  }

  test.skipIf(!probe.ok)(
    'a command that fills it is ended, turns are refused in words, and a deletion makes room',
    async () => {
      // Long before the last byte, it waits to be ended: on a full disk, its own result could not be recorded.
      const free = '$(stat -f -c %a .) -gt $((20000000 / $(stat -f -c %S .)))';
      const command = `i=0; while :; do [ ${free} ] && i=$((i+1)) && head -c 1000000 /dev/urandom >part$i; sleep 0.02; done`;
      model.script(({ step }) =>
        step === 0 ? { tools: [{ name: 'shell', input: { command } }] } : { text: 'It was ended.' },
      );
      const filling = await ask('fill it');
      expect(filling).toMatchObject({ status: 200, text: 'It was ended.' });
      expect(JSON.stringify(model.requests.at(-1)!.body)).toContain(`the disk is almost full: ${KEEP_FREE_MB} MB`);
      // What the run wrote doesn't fit a second time; until that has been noticed, it takes all that is free.
      await waitFor(() => daemon.stderr().includes('artifacts could not be recorded; will retry'));
      // The command was ended at the limit, and a checkpoint may free more than it went beyond: others write, too.
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(8 * MIB, 1));
      const refused = await ask('one more');
      expect(refused).toMatchObject({
        status: 503,
        error: { type: 'api_error', message: expect.stringMatching(/almost full/) },
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await readyz()).toMatchObject({
        status: 503,
        body: {
          parts: expect.arrayContaining([
            expect.objectContaining({ name: 'disk', state: 'failed', detail: expect.stringMatching(/disk/) }),
          ]),
        },
      });
      const { backups } = makeClient({ socketPath: daemon.socketPath });
      await backups.create({ directory: join(disk, 'place') });
      const backup = await waitFor(async () => {
        const job = await backups.latest();
        return job.state !== 'running' && job;
      });
      expect(backup).toMatchObject({ state: 'failed', error: "The backup would fill the daemon's own disk." });
      const sessionId = await sessionOf(filling.runId);
      expect((await call('DELETE', `/sessions/${sessionId}`)).status).toBe(200);
      await waitFor(() => !existsSync(workspaceOf(sessionId)));
      model.script({ text: 'Room again.' });
      await waitFor(async () => (await readyz()).status === 200 && (await ask('again')).status === 200);
    },
    180_000,
  );

  test('when not a byte is left, sessions are stopped, deleted and cleaned up, also after a new start; tasks fire when there is room', async () => {
    const sessions: string[] = [];
    for (const _ of [1, 2, 3]) {
      model.script(({ step }) =>
        step === 0
          ? { tools: [{ name: 'write_file', input: { path: 'notes.txt', content: 'x'.repeat(500_000) } }] }
          : { text: 'Written.' },
      );
      sessions.push(await sessionOf((await ask('write')).runId));
    }
    model.script({ text: ['half ', 'of it'], hang: 'mid-stream', afterDeltas: 1 });
    const before = model.requests.length;
    const open = await openTurn(target(), { content: 'never ends', protocol: 'messages', stream: true });
    await model.waitForRequest(before + 1);
    const running = await waitFor(
      () =>
        rowsOf<{ id: string }>(
          daemon,
          "SELECT s.id FROM sessions s JOIN runs r ON r.session_seq = s.seq WHERE r.status = 'running'",
        )[0]?.id,
    );
    const { taskId, pageKey } = await publishingTask();
    fill();
    expect((await readyz()).status).toBe(503);
    expect((await ask('more')).status).toBe(503);
    await expect(daemon.admin('POST', `/api/v1/scheduled-tasks/${taskId}/run`)).rejects.toThrow('503');

    const stopped = await call('POST', `/sessions/${running}/stop`);
    expect([stopped.status, await stopped.json()]).toMatchObject([
      200,
      { status: 'stopped', executor_cancelled: true },
    ]);
    await open.body?.cancel();
    const remove = async (sessionId: string) => {
      expect(await bySocket('DELETE', `/sessions/${sessionId}`)).toBe(200);
      await waitFor(() => !existsSync(workspaceOf(sessionId)));
      // Nothing else may use the freed space: the disk has to stay full.
      fill();
    };
    await remove(sessions[0]!);
    await remove(sessions[1]!);
    expect(statfsSync(disk).bavail * statfsSync(disk).bsize).toBeLessThan(MIB);

    await daemon.kill();
    await daemon.restart();
    await remove(sessions[2]!);
    expect((await ask('more')).status).toBe(503);
    await waitFor(() => rowsOf(daemon, 'SELECT 1 FROM scheduled_tasks WHERE look_at < ?', Date.now())[0]);
    expect(rowsOf(daemon, 'SELECT 1 FROM firings')).toEqual([]);
    rmSync(join(disk, 'filler'));
    model.script(({ step }) => (step === 0 ? { tools: [PAGE] } : { text: 'Room again.' }));
    await waitFor(async () => (await ask('again')).status === 200);
    await waitFor(() => rowsOf(daemon, "SELECT 1 FROM firings WHERE status = 'completed'")[0]);
    const share = () => fetch(`${daemon.url}/share/p/${pageKey}`);
    await waitFor(async () => (await share()).status === 200);
    await waitFor(() => rowsOf(daemon, 'SELECT 1 FROM cleanups').length === 0);
    const recorded = rowsOf(daemon, "SELECT target_id FROM audit_entries WHERE action = 'session.delete' ORDER BY id");
    expect(recorded).toEqual(sessions.map((target_id) => ({ target_id })));
    expect((await readyz()).status).toBe(200);
    expect(existsSync(join(daemon.dataDir, 'reserve'))).toBe(true);
    expect(rowsOf(daemon, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});
