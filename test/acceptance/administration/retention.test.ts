// A real daemon that was off for forty days: what is old goes when its operator says so, and what is young stays.
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { readTurn, takeTurn, type TurnAnswer } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import type { OrphansWire, RetentionProgressWire, RetentionWire } from '../../../src/wire/retention.ts';

const PRELOAD = fileURLToPath(new URL('../../support/daemon/earlier-clock.mjs', import.meta.url));
const FORTY_DAYS_MS = 40 * 86_400_000;
const KEPT_DAYS = [
  'events',
  'runs',
  'audit',
  'workspaces_idle',
  'exports',
  'firings',
  'scheduled_sessions',
  'throw_away_sessions',
];
const ERRAND_YAML = `workers: { threads: 1, runs_per_thread: 2 }
retention: { versions_keep: 1, ${KEPT_DAYS.map((kind) => `${kind}_days: 30`).join(', ')} }
`;

let model: ModelServer;
let daemon: DaemonProcess;
let old: TurnAnswer;
let young: TurnAnswer;
let taskId: string;
let pageKey: string;

beforeAll(async () => {
  model = await startModelServer();
  model.script(({ step }) =>
    step === 0
      ? {
          text: 'I write. ',
          tools: [{ name: 'write_file', input: { path: '/index.html', content: '<h1>Tides</h1>' } }],
        }
      : { text: ['It is ', 'written.'] },
  );
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: ERRAND_YAML,
    env: { NODE_OPTIONS: `--import=${PRELOAD}`, TEST_CLOCK_BEHIND_MS: String(FORTY_DAYS_MS) },
  });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });
const ask = () => takeTurn(target(), { content: 'Write.', stream: true });
const count = (from: string, ...values: string[]) =>
  rowsOf<{ count: number }>(daemon, `SELECT count(*) AS count FROM ${from}`, ...values)[0]!.count;
const errand = async (...args: string[]) => (await runErrand([...args, '--data-dir', daemon.dataDir])).stdout;
const post = (path: string, body: object = {}) => daemon.admin('POST', `/api/v1${path}`, body);
const workspaceOf = ({ sessionId }: TurnAnswer) => join(daemon.dataDir, 'workspaces', sessionId!);
const ofRun = 'run_seq = (SELECT seq FROM runs WHERE id = ?)';

/** The archive of a run, once it is packed. */
const archiveOf = ({ runId }: TurnAnswer) =>
  waitFor(async () => {
    const headers = { 'x-api-key': daemon.apiKey };
    const response = await fetch(`${daemon.url}/openapi/v1/runs/${runId}/artifacts`, { headers });
    return ((await response.json()) as { archive: { url: string } | null }).archive ?? undefined;
  });

const stream = ({ runId }: TurnAnswer, lastEventId?: string) =>
  fetch(`${daemon.url}/openapi/v1/runs/${runId}/stream`, {
    headers: { 'x-api-key': daemon.apiKey, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
  }).then(readTurn);

const nothingPending = () =>
  waitFor(
    () =>
      count("runs WHERE artifact_status = 'pending' OR finished_at IS NULL") +
        count("workspace_exports WHERE status = 'pending'") ===
      0,
  );

test('forty days ago people worked: runs with files, a title, firings of a task, versions of a page', async () => {
  old = await ask();
  await archiveOf(old);
  const paged = await ask();
  await nothingPending();
  const beside = { user: daemon.adminName, scope: 'conversation', continue_by: 'never' };
  const { key } = (await post('/keys', beside)) as { key: string };
  await takeTurn({ url: daemon.url, apiKey: key }, { content: 'Name this.' });
  const page = { name: 'Tides', session_id: paged.sessionId, entry_path: '/index.html' };
  ({ publish_key: pageKey } = (await post('/publishes', page)) as { publish_key: string });
  await post(`/publishes/${pageKey}/versions`, {});
  const task = { name: 'Tides', cron: '0 7 * * *', timezone: 'UTC', prompt: 'Look.', enabled: false };
  ({ scheduled_task_id: taskId } = (await post('/scheduled-tasks', task)) as { scheduled_task_id: string });
  for (const no of [1, 2]) {
    await post(`/scheduled-tasks/${taskId}/run`);
    await waitFor(() => count("firings WHERE status = 'completed'") === no);
  }
  await nothingPending();
  await daemon.stop();
  const copy = join(daemon.dataDir, 'errand.db.v1.backup');
  writeFileSync(copy, 'as an upgrade left it');
  const then = (Date.now() - FORTY_DAYS_MS) / 1_000;
  utimesSync(copy, then, then);
});

test('after a start forty days later nothing is removed, because the clock may be wrong', async () => {
  await daemon.restart({ env: { TEST_CLOCK_BEHIND_MS: '0' } });
  young = await ask();
  await archiveOf(young);
  await expect(errand('gc')).rejects.toMatchObject({ stderr: expect.stringContaining('errand gc --trust-clock') });
  expect([count(`tool_calls WHERE ${ofRun}`, old.runId!), existsSync(workspaceOf(old))]).toEqual([1, true]);
});

test('a dry run says exactly what goes when the operator trusts the clock', async () => {
  const { kinds } = JSON.parse(await errand('gc', '--dry-run', '-o', 'json')) as RetentionWire;
  const due = kinds.map(({ kind, rows }) => ({ kind, rows }));
  expect(due.filter(({ rows }) => rows === 0)).toEqual([]);
  const { pass } = JSON.parse(await errand('gc', '--trust-clock', '-o', 'json')) as RetentionProgressWire;
  expect(pass!.removed.filter(({ kind }) => !['free_pages', 'orphans'].includes(kind))).toEqual(due);
  const { kinds: left } = (await daemon.admin('GET', '/api/v1/retention')) as RetentionWire;
  expect(left.filter(({ rows }) => rows > 0)).toEqual([]);
});

test('a stream of an old run has its answer and ends; one that had a part is told so, and ends', async () => {
  const whole = await stream(old);
  expect([whole.error, whole.text, whole.events.at(-1)?.event]).toEqual([null, old.text, 'message_stop']);
  const rest = await stream(old, old.events.find(({ id }) => id !== null)!.id!);
  expect([rest.text, rest.error?.message]).toEqual(['', expect.stringContaining('Its result remains')]);
});

test('what is old is gone, and its last firing, newest version and sums stay', async () => {
  expect(count(`events WHERE ${ofRun}`, old.runId!)).toBe(0);
  expect(count(`tool_calls WHERE ${ofRun}`, old.runId!)).toBe(0);
  expect(existsSync(workspaceOf(old))).toBe(false);
  expect(count('firings')).toBe(1);
  await waitFor(() => count("sessions WHERE kind = 'scheduled' AND deleted_at IS NULL") === 0);
  expect(count('publish_versions WHERE is_open = 1')).toBe(1);
  expect((await fetch(`${daemon.url}/share/p/${pageKey}`)).status).toBe(200);
  expect(await archiveOf(old)).toMatchObject({ url: expect.stringContaining(daemon.url) });
  expect(count(`usage_records WHERE ${ofRun}`, old.runId!)).toBe(2);
});

test('what is young stays as it was', async () => {
  const again = await stream(young);
  expect([again.error, again.text, again.events.length]).toEqual([null, young.text, young.events.length]);
  expect(count(`tool_calls WHERE ${ofRun}`, young.runId!)).toBe(1);
  expect(existsSync(join(workspaceOf(young), 'index.html'))).toBe(true);
  expect((await fetch((await archiveOf(young)).url)).status).toBe(200);
});

test('the audit log lost its oldest entries, and its chain holds', async () => {
  const [first] = rowsOf<{ id: number }>(daemon, 'SELECT min(id) AS id FROM audit_entries');
  expect(first!.id).toBeGreaterThan(1);
  expect(await errand('audit', 'verify')).toContain('intact');
});

test('a workspace of no session is named by a dry run and by the doctor, and goes with gc once it is an hour old', async () => {
  const name = '0190f6a0-0000-7000-8000-00000000000f';
  const stray = join(daemon.dataDir, 'workspaces', name);
  mkdirSync(stray);
  await errand('gc');
  expect(existsSync(stray)).toBe(true);
  // Two hours ahead.
  await daemon.restart({ env: { TEST_CLOCK_BEHIND_MS: String(-7_200_000) } });
  const { orphans } = JSON.parse(await errand('gc', '--dry-run', '-o', 'json')) as { orphans: OrphansWire };
  expect(orphans).toMatchObject({ workspaces: 1, examples: [`workspaces/${name}`] });
  const examined = await errand('doctor', '-o', 'json').catch((error: { stdout: string }) => error.stdout);
  const { checks } = JSON.parse(examined) as { checks: { id: string; evidence: string }[] };
  expect(checks.find(({ id }) => id === 'orphans')!.evidence).toContain(`workspaces/${name}`);
  await errand('gc');
  expect([existsSync(stray), existsSync(workspaceOf(young))]).toEqual([false, true]);
});
