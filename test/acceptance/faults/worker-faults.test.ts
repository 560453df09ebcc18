// Worker threads that die, hang or send nonsense: their runs resume, and the daemon keeps serving.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { ANSWER } from '../../../src/store/rows.ts';

describe('worker threads', () => {
  const PRELOAD = fileURLToPath(new URL('../../support/daemon/worker-fault.mjs', import.meta.url));
  let model: ModelServer;
  let daemon: DaemonProcess;
  /** Ends hung threads soon. On a busy machine, that may also end a thread that is only starting. */
  let hasty: DaemonProcess;
  let ofHasty: string;
  /** All of its runs share one thread. */
  let crowd: DaemonProcess;
  let ofCrowd: string;
  let faults: string;

  beforeAll(async () => {
    faults = mkdtempSync(join(tmpdir(), 'errand-faults-'));
    model = await startModelServer();
    const start = (folder: string, limit: string) =>
      startDaemonProcess({
        modelServerUrl: model.url,
        errandYaml: `workers: { threads: 2, runs_per_thread: 2, memory_mb: 256${limit} }\n`,
        env: { NODE_OPTIONS: `--import=${PRELOAD}`, TEST_WORKER_FAULTS: folder },
      });
    daemon = await start(faults, '');
    ofHasty = mkdtempSync(join(tmpdir(), 'errand-faults-'));
    hasty = await start(ofHasty, ', hang_timeout_seconds: 6');
    ofCrowd = mkdtempSync(join(tmpdir(), 'errand-faults-'));
    crowd = await startDaemonProcess({
      modelServerUrl: model.url,
      errandYaml: 'workers: { threads: 1, runs_per_thread: 8 }\n',
      env: { NODE_OPTIONS: `--import=${PRELOAD}`, TEST_WORKER_FAULTS: ofCrowd },
    });
  });
  afterAll(async () => {
    await crowd.close();
    rmSync(ofCrowd, { recursive: true });
    await daemon.close();
    await hasty.close();
    rmSync(ofHasty, { recursive: true });
    await model.close();
    rmSync(faults, { recursive: true });
  });

  test.each(['throw', 'exit', 'allocate', 'loop'])(
    'a thread that dies (%s) takes no run with it: its runs resume and the others do not notice',
    async (fault) => {
      const fixture = fault === 'loop' ? hasty : daemon;
      // Four runs fill both threads, two each. A run that asks again after the fault gets its reply at once.
      let broken = false;
      const before = model.requests.length;
      const resumed = Promise.withResolvers<void>();
      const words = Array.from({ length: 30 }, () => 'w');
      model.script(() => (broken ? { text: 'resumed' } : { text: words, hang: 'mid-stream', until: resumed.promise }));
      const turns = Array.from({ length: 4 }, () =>
        takeTurn({ url: fixture.url, apiKey: fixture.apiKey }, { content: fault, stream: true }),
      );
      await model.waitForRequest(before + 4);
      broken = true;
      writeFileSync(join(fixture === hasty ? ofHasty : faults, fault), '');
      // The others are in the middle of their replies until the model calls of the dead thread were repeated.
      await model.waitForRequest(before + 6);
      resumed.resolve();
      const answers = await Promise.all(turns);
      const why = fixture
        .stderr()
        .match(/"why":"[^"]*"/g)
        ?.slice(-8)
        .join('\n');
      const runs = answers.map(({ runId }) => runId ?? '');
      const rows = rowsOf<{ status: string; resumes: number; attempt: number; answer: string }>(
        fixture,
        `SELECT status, resumes, attempt, ${ANSWER} FROM runs r WHERE id IN (${runs.map(() => '?').join(', ')}) ORDER BY attempt`,
        ...runs,
      );
      expect(
        rows.map(({ status }) => status),
        why,
      ).toEqual(Array.from({ length: 4 }, () => 'completed'));
      expect(
        rows.map(({ attempt }) => attempt),
        why,
      ).toEqual([1, 1, 2, 2]);
      // Each had a neighbour, which may have been the one.
      expect(rows.map(({ resumes }) => resumes)).toEqual([0, 0, 0, 0]);
      expect(rows.map(({ answer }) => answer)).toEqual([
        ...Array.from({ length: 2 }, () => 'w'.repeat(30)),
        'resumed',
        'resumed',
      ]);
      expect(model.requests.length - before).toBe(6);
      for (const { error, events, text } of answers) {
        expect(error).toBeNull();
        expect(text).toMatch(/^(w{30}|w*resumed)$/);
        const starts = events.filter(({ event }) => event === 'content_block_start');
        expect(events.filter(({ event }) => event === 'content_block_stop')).toHaveLength(starts.length);
      }
    },
  );

  test('a message that cannot be read ends its thread: the runs there resume, and it is charged to none', async () => {
    const garbled = Promise.withResolvers<void>();
    const words = Array.from({ length: 10 }, () => 'w');
    model.script({ text: words, hang: 'mid-stream', until: garbled.promise });
    const before = model.requests.length;
    const turns = Array.from({ length: 4 }, () =>
      takeTurn({ url: crowd.url, apiKey: crowd.apiKey }, { content: 'garbled' }),
    );
    await model.waitForRequest(before + 4);
    writeFileSync(join(ofCrowd, 'garble'), '');
    await waitFor(() => !existsSync(join(ofCrowd, 'garble')));
    garbled.resolve();
    const answers = await Promise.all(turns);
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 4 }, () => 'w'.repeat(10)));
    // Those that had ended before are not repeated.
    expect(model.requests.length - before).toBeGreaterThanOrEqual(5);
    expect(model.requests.length - before).toBeLessThanOrEqual(8);
    const sql = 'SELECT status, resumes FROM runs WHERE id = ?';
    for (const { runId } of answers)
      expect(rowsOf(crowd, sql, runId ?? '')).toEqual([{ status: 'completed', resumes: 0 }]);
    expect(crowd.stderr()).toContain('a message of its thread could not be read');
  });

  test('a run whose thread dies each time is given up after two resumes, and says so', async () => {
    model.script({ text: ['w'], hang: 'mid-stream' });
    const before = model.requests.length;
    const turn = takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: 'unlucky' });
    let over = false;
    void turn.finally(() => (over = true));
    await model.waitForRequest(before + 1);
    // No thread lives for long, whether it has the run or has only just begun.
    while (!over) {
      writeFileSync(join(faults, 'throw'), '');
      await waitFor(() => over || !existsSync(join(faults, 'throw')));
    }
    rmSync(join(faults, 'throw'), { force: true });
    const answer = await turn;
    expect(answer).toMatchObject({ status: 500, error: { type: 'api_error', message: /interrupted too often/ } });
    const sql = 'SELECT status, resumes, attempt, error FROM runs WHERE id = ?';
    const [row] = rowsOf<{ attempt: number }>(daemon, sql, answer.runId ?? '');
    expect(row).toMatchObject({
      status: 'failed',
      resumes: 2,
      error: expect.stringContaining('"type":"interrupted_error"'),
    });
    // Three losses alone are its own. Before them come one among others, and those that found it before it had begun: a busy machine has more.
    expect(row?.attempt).toBeGreaterThanOrEqual(4);
  });

  test('a model that never stops fails its own run, and its neighbour on the thread does not notice', async () => {
    let isOver = false;
    model.script(({ userText }) => {
      if (userText === 'endless') return { text: ['x'.repeat(2_000)], endless: true };
      return isOver ? { text: 'too late' } : { text: Array.from({ length: 40 }, () => 'w'), deltaMs: 50 };
    });
    const ask = (content: string) => takeTurn({ url: crowd.url, apiKey: crowd.apiKey }, { content });
    const before = model.requests.length;
    const neighbour = ask('neighbour');
    await model.waitForRequest(before + 1);
    isOver = true;
    const endless = await ask('endless');
    const message = /sent a longer reply than is accepted \(more than 4 MB\)\.$/;
    expect(endless).toMatchObject({ status: 500, error: { type: 'api_error', message } });
    expect(await neighbour).toMatchObject({ status: 200, text: 'w'.repeat(40) });
    expect(model.requests.length - before).toBe(2);
    const size = 'SELECT sum(length(payload)) AS bytes FROM events e JOIN runs r ON r.seq = e.run_seq WHERE r.id = ?';
    const [kept] = rowsOf<{ bytes: number }>(crowd, size, endless.runId ?? '');
    expect(kept?.bytes).toBeLessThan(6 * 1_048_576);
  });

  test('a run that ends its thread each time costs its neighbours no resume, and is given up alone', async () => {
    const isPoison = (content: string) => content.includes('poison');
    let poured = false;
    model.script(({ userText }) => {
      if (isPoison(userText)) return { text: 'arsenic', firstMs: 300 };
      if (poured) return { text: 'Survived.' };
      // Two write, two have their model think.
      return userText.includes('writer') ? { text: ['w'], endless: true, deltaMs: 20 } : { hang: 'after-headers' };
    });
    const before = model.requests.length;
    const turn = (content: string) => takeTurn({ url: crowd.url, apiKey: crowd.apiKey }, { content });
    const neighbours = ['writer 1', 'writer 2', 'thinker 1', 'thinker 2'].map(turn);
    await model.waitForRequest(before + 4);
    poured = true;
    const poison = await turn('poison');
    expect(poison).toMatchObject({ status: 500, error: { type: 'api_error', message: /interrupted too often/ } });
    const answers = await Promise.all(neighbours);
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 4 }, () => 'Survived.'));
    const sql = 'SELECT resumes, attempt FROM runs WHERE id = ?';
    expect(rowsOf(crowd, sql, poison.runId ?? '')).toEqual([{ resumes: 2, attempt: 4 }]);
    for (const { runId } of answers) expect(rowsOf(crowd, sql, runId ?? '')).toEqual([{ resumes: 0, attempt: 2 }]);
    await waitFor(
      async () => ((await crowd.admin('GET', '/api/v1/status')) as { workers: { busy: number } }).workers.busy === 0,
    );
  });

  test.each(['throw', 'exit'])(
    'threads that die with nothing to do (%s) are replaced, and the daemon continues',
    async (fault) => {
      const pid = daemon.pid();
      for (let times = 1; times <= 3; times += 1) {
        writeFileSync(join(faults, fault), '');
        await waitFor(async () => {
          // A thread is there to take it, at the latest when there is work again.
          model.script({ text: 'Here.' });
          const answer = await takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: 'anyone?' });
          return answer.text === 'Here.' && !existsSync(join(faults, fault));
        });
      }
      expect(await daemon.admin('GET', '/api/v1/status')).toMatchObject({ pid, ready: true });
    },
  );
});
