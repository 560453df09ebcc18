// The database in trouble below a running daemon: locked by another process, on a disk that fails to sync, damaged.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const PATIENT = { timeoutMs: 30_000 };
let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const databaseOf = () => join(daemon.dataDir, 'errand.db');
const ask = (content: string, stream = false) =>
  takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content, stream });

async function answers(path: string): Promise<number> {
  const response = await fetch(daemon.url + path, { headers: { authorization: `Bearer ${daemon.apiKey}` } });
  await response.body?.cancel();
  return response.status;
}

/** Another process that holds the write lock of the database. */
function lock(): { end(): void } {
  const connection = new Connection(databaseOf(), { timeout: 5_000 });
  connection.exec('BEGIN IMMEDIATE');
  const end = () => {
    if (connection.open) connection.exec('ROLLBACK').close();
  };
  onTestFinished(end);
  return { end };
}

test('turns wait for a lock of another process, while everything that only reads is answered', async () => {
  const held = lock();
  let over = false;
  const turn = ask('[[text=In the end.]]').finally(() => (over = true));
  // Few: the lock must end before turns are refused.
  for (let times = 0; times < 3; times += 1) {
    expect(await answers('/healthz')).toBe(200);
    expect(await answers('/openapi/v1/sessions')).toBe(200);
  }
  expect(await answers('/readyz')).toBe(200);
  expect(over).toBe(false);
  held.end();
  expect(await turn).toMatchObject({ status: 200, text: 'In the end.' });
});

test('a lock that outlasts every wait refuses turns in words, and costs a run neither its answer nor a resume', {
  tags: ['L8'],
}, async () => {
  const locked = Promise.withResolvers<void>();
  model.script((question) => {
    if (question.userText !== 'work') return replyFromDirectives(question);
    return question.step === 0
      ? { hang: 'before-headers', until: locked.promise, tools: [{ name: 'list_files', input: {} }] }
      : { text: 'Done all the same.' };
  });
  const before = model.requests.length;
  const turn = ask('work', true);
  await model.waitForRequest(before + 1);
  const held = lock();
  locked.resolve();
  const refused = ask('[[text=never]]');
  await waitFor(() => daemon.stderr().includes('"unavailable"'), PATIENT);
  expect(await refused).toMatchObject({
    status: 503,
    error: { type: 'api_error', message: "The daemon's storage is locked by another process." },
  });
  expect(await answers('/readyz')).toBe(503);
  expect(await answers('/healthz')).toBe(200);
  held.end();
  const answer = await turn;
  expect(answer.error).toBeNull();
  expect(answer.text).toMatch(/Done all the same\.$/);
  const sql = 'SELECT status, resumes, attempt FROM runs WHERE id = ?';
  expect(rowsOf(daemon, sql, answer.runId ?? '')).toEqual([{ status: 'completed', resumes: 0, attempt: 2 }]);
  await waitFor(async () => (await answers('/readyz')) === 200, PATIENT);
  model.script(replyFromDirectives);
});

/** Whether strace is there, and may look into a process. */
const canInject = spawnSync('strace', ['-e', 'inject=fsync:error=EIO', 'true']).status === 0;
const FAILING_SYNCS = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO'];
if (!canInject) process.stderr.write('SKIPPED: a disk that fails to sync. It needs strace, and the right to use it.\n');

test.skipIf(!canInject)(
  'after a failed sync the daemon ends with a code, says so, and the next start continues from what is there',
  async () => {
    expect(await ask('[[text=before]]')).toMatchObject({ status: 200 });
    const tracer = spawn('strace', ['-f', '-p', String(daemon.pid()), '-o', '/dev/null', ...FAILING_SYNCS]);
    const traced = once(tracer, 'exit');
    await waitFor(() => readFileSync(`/proc/${daemon.pid()}/status`, 'utf8').match(/TracerPid:\t[1-9]/) !== null);
    const refused = await ask('[[text=lost]]').catch(() => undefined);
    if (refused !== undefined) expect(JSON.stringify(refused.error)).not.toMatch(/SQLITE|errand\.db/);
    expect(await daemon.exited()).toEqual({ code: 1, signal: null });
    await traced;
    expect(daemon.stderr()).toMatch(
      /"level":"fatal".*errand\.db .*IOERR_FSYNC.*the daemon ends: what its database holds may differ/,
    );
    await daemon.restart();
    expect(await ask('[[text=after]]')).toMatchObject({ status: 200, text: 'after' });
    expect(rowsOf(daemon, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  },
  60_000,
);

test('a daemon does not start on a damaged database, and says which file it is and what to do', async () => {
  await daemon.stop();
  const whole = readFileSync(databaseOf());
  const file = openSync(databaseOf(), 'r+');
  writeSync(file, Buffer.from('no longer a header'), 0);
  closeSync(file);
  const failure = await daemon.restart().then(
    () => '',
    (error: unknown) => String(error),
  );
  expect(failure).toContain('ended with code 1');
  expect(failure).toMatch(/errand\.db is damaged .*backup in its place/);
  expect(failure).not.toContain('Unexpected error');
  writeFileSync(databaseOf(), whole);
  await daemon.restart();
  expect(await answers('/readyz')).toBe(200);
});
