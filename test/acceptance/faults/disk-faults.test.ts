// Disks that are full or cannot be written: turns are refused in words, and the daemon serves again once there is room.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { contentsOf, rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn, type TurnProtocol, WAYS } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Mounts a small disk of its own, or a read-only view of a directory; only root may, and not everywhere. */
const canMount =
  spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d && rmdir $d']).status === 0;
if (!canMount) console.warn('SKIPPED: full and read-only disks. Mounting needs root and CAP_SYS_ADMIN.');

/** Also while a thread, or a process that is ending, has just something open there. */
const unmount = (directory: string) => execFileSync('umount', ['--lazy', directory]);

describe.skipIf(!canMount)('disks', () => {
  let model: ModelServer;
  let daemon: DaemonProcess;
  let disk: string;
  // One by one: a mount must not be left behind when the daemon did not start.
  const closers: (() => unknown)[] = [];

  beforeAll(async () => {
    disk = mkdtempSync(join(tmpdir(), 'errand-disk-'));
    closers.push(() => rmSync(disk, { recursive: true }));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]);
    closers.push(() => unmount(disk));
    model = await startModelServer();
    closers.push(() => model.close());
    const errandYaml = 'streams: { drain_seconds: 1 }\ndisk: { keep_free_mb: 0 }\n';
    daemon = await startDaemonProcess({ modelServerUrl: model.url, within: disk, errandYaml });
    closers.push(() => daemon.close());
  });
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  });

  const ask = (content: string | readonly object[], protocol: TurnProtocol = 'messages', stream = false) =>
    takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content, protocol, stream });

  const attachment = (bytes: Buffer) => ({
    type: 'file',
    file_name: 'a.bin',
    source: { type: 'base64', media_type: 'application/octet-stream', data: bytes.toString('base64') },
  });

  /** Takes what is free. */
  function fill(): void {
    const filler = openSync(join(disk, 'filler'), 'a');
    try {
      for (const bytes of [1 << 20, 1 << 12]) {
        for (;;) {
          try {
            if (writeSync(filler, Buffer.alloc(bytes)) < bytes) break;
          } catch {
            break;
          }
        }
      }
    } finally {
      closeSync(filler);
    }
  }

  /** Has the disk full all the while: the daemon gives some back when its database is quiet, on a slow machine within a request. */
  async function whileFull<Result>(work: () => Promise<Result>): Promise<Result> {
    fill();
    const filling = setInterval(fill, 20);
    try {
      return await work();
    } finally {
      clearInterval(filling);
    }
  }

  const empty = () => rmSync(join(disk, 'filler'), { force: true });
  afterEach(empty);

  const readyz = async () => {
    const response = await fetch(`${daemon.url}/readyz`);
    const { parts } = (await response.json()) as { parts: { name: string; state: string }[] };
    return { status: response.status, stateOf: (of: string) => parts.find(({ name }) => name === of)?.state };
  };

  const refused = {
    status: 503,
    error: { type: 'api_error', message: expect.stringMatching(/storage refuses to write/) },
  };

  test('a full disk refuses turns with 503, keeps nothing of them, and serves again once there is room', async () => {
    expect(await ask('[[text=before]]')).toMatchObject({ status: 200, text: 'before' });
    // Longer than what the database's own log may have room for.
    const long = `[[text=heard]] ${'x'.repeat(3_000_000)}`;
    // Collecting what the first turn made takes room, too.
    const before = await contentsOf(daemon);
    const pid = daemon.pid();
    for (const { protocol, stream } of WAYS) {
      const answer = await whileFull(() => ask(long, protocol, stream));
      expect(answer).toMatchObject(refused);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.runId).toBeNull();
    }
    expect(await whileFull(() => ask([attachment(randomBytes(3_000_000))]))).toMatchObject(refused);
    expect(await contentsOf(daemon)).toEqual(before);
    await waitFor(async () => {
      // The daemon may give back its reserve at any moment: then it is not ready for its store alone.
      fill();
      const { status, stateOf } = await readyz();
      return status === 503 && stateOf('disk') === 'failed';
    });
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);

    empty();
    expect(await ask(long)).toMatchObject({ status: 200, text: 'heard' });
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(200);
    expect(daemon.pid()).toBe(pid);
    expect(rowsOf(daemon, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  test('where blobs cannot be written, a turn with an attachment is refused and others continue', async () => {
    const blobs = join(daemon.dataDir, 'blobs');
    execFileSync('mount', ['--bind', blobs, blobs]);
    execFileSync('mount', ['-o', 'remount,bind,ro', blobs]);
    try {
      const before = await contentsOf(daemon);
      const answer = await ask([attachment(Buffer.alloc(100_000, 'never kept'))]);
      expect(answer).toMatchObject(refused);
      expect(answer.headers.has('retry-after')).toBe(true);
      expect(await contentsOf(daemon)).toEqual(before);
      expect(await ask('[[text=no file]]')).toMatchObject({ status: 200, text: 'no file' });
      await waitFor(async () => (await readyz()).stateOf('files') === 'degraded');
    } finally {
      unmount(blobs);
    }
    await waitFor(async () => (await readyz()).stateOf('files') === 'ok');
    expect(await ask([attachment(Buffer.from('kept')), { type: 'text', text: '[[text=got it]]' }])).toMatchObject({
      status: 200,
      text: 'got it',
    });
  });

  test('a disk that fills up under a run fails neither the daemon nor, once there is room, the run', async () => {
    // Its log begins anew. In what the turns before have made of it, all of this run could have room, or only its next attempts.
    await daemon.restart();
    const full = Promise.withResolvers<void>();
    const text = ['y', 'y'.repeat(2_000_000)];
    model.script((question) =>
      question.step === 0
        ? { text, hang: 'mid-stream', until: full.promise, tools: [{ name: 'list_files', input: {} }] }
        : { text: 'over it' },
    );
    const before = model.requests.length;
    const turn = ask('long one', 'messages', true);
    await model.waitForRequest(before + 1);
    await whileFull(async () => {
      full.resolve();
      await waitFor(() => daemon.stderr().includes('the journal could not be written'));
    });
    empty();
    const answer = await turn;
    expect(answer.error).toBeNull();
    expect(answer.text.endsWith('over it')).toBe(true);
  });

  test('SIGTERM on a full disk is a clean drain, also of a run, which continues when there is room', async () => {
    model.script({ text: ['half ', 'of it'], hang: 'mid-stream', afterDeltas: 1 });
    const before = model.requests.length;
    const turn = ask('through the drain', 'messages', true);
    await model.waitForRequest(before + 1);
    fill();
    expect(await daemon.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    const { runId } = await turn;
    empty();
    model.script({ text: 'the rest' });
    await daemon.restart();
    await waitFor(() => rowsOf(daemon, "SELECT 1 FROM runs WHERE id = ? AND status = 'completed'", runId!)[0]);
  });
});
