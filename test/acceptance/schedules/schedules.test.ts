// Scheduled tasks in the real daemon: each time fires once, and each step runs once, however often the daemon is killed.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { TaskRecord } from '../../../src/store/firings/task-rows.ts';
import type { NewTask } from '../../../src/store/schedules/tasks.ts';
import { openStore } from '../../support/store/open-store.ts';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { replyFromDirectives, type Script } from '../../support/model/model-reply.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { aTask } from '../../support/store/schedules.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const MINUTE = 60_000;

/** A daemon that is stopped, with a model server of its own. */
async function stoppedDaemon(script: Script = replyFromDirectives): Promise<DaemonProcess> {
  const model = await startModelServer({ record: false });
  model.script(script);
  const daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'workers: { threads: 1, runs_per_thread: 4 }\n',
  });
  onTestFinished(async () => {
    await daemon.close();
    await model.close();
  });
  await daemon.stop();
  return daemon;
}

/** Some minutes ago, and that time as a cron expression: it comes once a year. */
function minutesAgo(minutes: number) {
  const at = new Date(Math.floor(Date.now() / MINUTE) * MINUTE - minutes * MINUTE);
  return { at, cron: `${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *` };
}

/** Makes tasks in the files of a stopped daemon, ten minutes ago. */
async function makeTasks(daemon: DaemonProcess, tasks: readonly Partial<NewTask>[]): Promise<TaskRecord[]> {
  const store = openStore(join(daemon.dataDir, 'errand.db'), fakeClock(Date.now() - 10 * MINUTE));
  const { seq } = await store.users.get('admin');
  const made: TaskRecord[] = [];
  for (const task of tasks) made.push(await store.schedules.create(aTask(seq, task)));
  await store.close();
  return made;
}

const stepsOf = (...prompts: string[]) => ({
  prompt: null,
  steps: prompts.map((prompt) => ({ id: randomUUID(), prompt })),
});

const count = (daemon: DaemonProcess, from: string) =>
  rowsOf<{ count: number }>(daemon, `SELECT count(*) AS count FROM ${from}`)[0]!.count;

test('times that were missed fire once, and every step runs once, through kill -9 and restarts', {
  tags: ['I1-firings', 'I9-missed'],
}, async () => {
  const daemon = await stoppedDaemon();
  const { at, cron } = minutesAgo(5);
  const names = ['one', 'two', 'three', 'four', 'five'];
  const prompt = '[[text=done deltas=10 every=20]]';
  await makeTasks(
    daemon,
    names.map((name) => ({ name, cron, work: stepsOf(`first ${prompt}`, `second ${prompt}`, `third ${prompt}`) })),
  );
  await daemon.restart();
  // Between the time and its runs; then between steps. Two kills at most: a run may be resumed twice.
  await waitFor(() => count(daemon, 'firings') > 0, { everyMs: 1 });
  await daemon.kill();
  await daemon.restart();
  await waitFor(() => count(daemon, "runs WHERE status = 'completed'") > 2, { everyMs: 1 });
  await daemon.kill();
  await daemon.restart();
  await waitFor(() => count(daemon, "firings WHERE status = 'completed'") === names.length);
  await daemon.stop();
  await daemon.restart();

  expect(rowsOf(daemon, 'SELECT due_at, status, step_no, trigger FROM firings')).toEqual(
    names.map(() => ({ due_at: at.getTime(), status: 'completed', step_no: 3, trigger: 'clock' })),
  );
  const sessions = rowsOf<{ kind: string; runs: string; steps: string }>(
    daemon,
    `SELECT s.kind, (SELECT group_concat(status) FROM (SELECT status FROM runs WHERE session_seq = s.seq ORDER BY seq)) AS runs,
       (SELECT group_concat(substr(text_preview, 1, 3)) FROM
         (SELECT text_preview FROM messages WHERE session_seq = s.seq AND role = 'user' ORDER BY id)) AS steps
     FROM sessions s`,
  );
  expect(sessions).toEqual(
    names.map(() => ({ kind: 'scheduled', runs: 'completed,completed,completed', steps: 'fir,sec,thi' })),
  );
  const moves = rowsOf<{ run: string; status: string }>(
    daemon,
    `SELECT payload ->> '$.runId' AS run, payload ->> '$.status' AS status FROM events
     WHERE type = 'scheduled_task.run_status_changed' ORDER BY id`,
  );
  const movesOfRuns = [...Map.groupBy(moves, ({ run }) => run).values()].map((own) => own.map(({ status }) => status));
  expect(movesOfRuns).toEqual(Array.from({ length: 15 }, () => ['pending', 'running', 'completed']));
});

test('runs of a task are watched in Office Mode, and keys see nothing of them', async () => {
  const daemon = await stoppedDaemon();
  const { cron } = minutesAgo(5);
  const [task] = await makeTasks(daemon, [{ cron, work: stepsOf('[[text=done]]') }]);
  await daemon.restart();
  await waitFor(() => count(daemon, "firings WHERE status = 'completed'") === 1);
  const [session] = rowsOf<{ id: string }>(daemon, 'SELECT id FROM sessions');
  const [run] = rowsOf<{ id: string }>(daemon, 'SELECT id FROM runs');

  const office = (path: string) => daemon.admin('GET', `/api/v1/office-mode${path}`);
  const today = '/teams/__unassigned__/today-active-runs?tz=UTC&source_type=';
  expect(await office(`${today}scheduled_task`)).toMatchObject({
    items: [
      {
        run_id: run!.id,
        source_type: 'scheduled_task',
        scheduled_task_id: task!.id,
        scheduled_task_step_id: task!.steps[0]!.id,
      },
    ],
    total: 1,
  });
  expect(await office(`${today}normal_session`)).toMatchObject({ items: [], total: 0 });
  expect(await office('/snapshot')).toMatchObject({ teams: [{ id: '__unassigned__', scheduled_task_count: 1 }] });

  const key = (await daemon.admin('POST', '/api/v1/keys', { user: 'admin', scope: 'global' })) as { key: string };
  const statusOf = async (method: string, path: string) =>
    (await fetch(daemon.url + path, { method, headers: { authorization: `Bearer ${key.key}` } })).status;
  const sessions = `/openapi/v1/sessions/${session!.id}`;
  expect(await statusOf('GET', `${sessions}/messages`)).toBe(404);
  expect(await statusOf('GET', `${sessions}/artifacts`)).toBe(404);
  expect(await statusOf('POST', `${sessions}/stop`)).toBe(404);
  expect(await statusOf('DELETE', sessions)).toBe(404);
  expect(await statusOf('GET', `/openapi/v1/runs/${run!.id}`)).toBe(404);
});

test('a firing that falls due during another is skipped or waits, as its task says', {
  tags: ['I9-overlap'],
}, async () => {
  const told = Promise.withResolvers<void>();
  const daemon = await stoppedDaemon({ text: 'done', hang: 'before-headers', until: told.promise });
  const { cron } = minutesAgo(5);
  const slow = stepsOf('Take your time.');
  const [queueing] = await makeTasks(daemon, [
    { cron, overlap: 'queue', work: slow },
    { cron, overlap: 'skip', work: slow },
  ]);
  await daemon.restart();
  await waitFor(() => count(daemon, "firings WHERE status = 'running'") === 2);
  await daemon.kill();
  // Their next time comes while the first firings are unfinished.
  const store = openStore(join(daemon.dataDir, 'errand.db'), fakeClock(Date.now() - 10 * MINUTE));
  const { items } = await store.schedules.list({ userSeq: null, name: null, enabled: null, limit: 9, offset: 0 });
  for (const { id } of items) await store.schedules.change(id, { cron: minutesAgo(4).cron });
  await store.close();
  await daemon.restart();
  const states = (seq: number) =>
    rowsOf<{ status: string }>(daemon, `SELECT status FROM firings WHERE task_seq = ${seq} ORDER BY id`);
  await waitFor(() => count(daemon, 'scheduled_tasks WHERE last_skipped_at IS NOT NULL') === 1);
  await waitFor(() => states(queueing!.seq).length === 2);
  const [first, second] = states(queueing!.seq);
  expect([first!.status, second!.status]).toEqual([expect.stringMatching(/running|pending/), 'pending']);
  told.resolve();
  await waitFor(() => states(queueing!.seq).every(({ status }) => status === 'completed'));
  expect(count(daemon, `firings WHERE task_seq <> ${queueing!.seq}`)).toBe(1);
});
