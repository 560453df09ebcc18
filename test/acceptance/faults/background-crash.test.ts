// Background runs are taken once and end once, however often the daemon is killed while they are submitted and executed.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { checkBackground, collectAll, submitAll } from '../../support/daemon/background-load.ts';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const COUNT = 40;
const KILLS = 4;
const AT_ONCE = 8;

test('forty submissions through four kills: each key finds its one run, and each run ends once', {
  tags: ['§3.1-accepted', '§3.1-one-end', '§4.3-rule-3'],
}, async () => {
  const model = await startModelServer({ record: false });
  const daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'background: { max_executing_per_key: 4 }\nworkers: { threads: 1, runs_per_thread: 6 }\n',
  });
  onTestFinished(async () => {
    await daemon.close();
    await model.close();
  });
  await daemon.admin('POST', '/api/v1/users', { username: 'ada' });
  const makeKey = () => daemon.admin('POST', '/api/v1/keys', { user: 'ada', scope: 'conversation' });
  const keys = (await Promise.all([makeKey(), makeKey()])) as { key: string }[];

  const countOf = (status: string) =>
    rowsOf<{ count: number }>(daemon, 'SELECT count(*) AS count FROM runs WHERE status = ?', status)[0]?.count ?? 0;

  let isSubmitted = false;
  const submitting = submitAll({
    targets: keys.map(({ key }) => ({ url: daemon.url, key })),
    count: COUNT,
    atOnce: AT_ONCE,
    wordsOf: (number) => `[[text=number-${number} deltas=6 every=${10 + (number % 30)}]]`,
    // Spread over the lives of the daemon, so that requests are on their way whenever it dies.
    pauseMs: () => Math.random() * 800,
  }).finally(() => (isSubmitted = true));
  const isOver = () => isSubmitted && rowsOf(daemon, 'SELECT 1 FROM runs WHERE finished_at IS NULL').length === 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    await waitFor(() => countOf('running') > 0 || (kill > 0 && isOver()), { what: 'a run executes' });
    // The first kill hits a run for certain, the others what they hit.
    if (kill > 0) await sleep(Math.random() * 300);
    await daemon.kill();
    await daemon.restart();
  }
  const submissions = await submitting;
  await collectAll(submissions, AT_ONCE);

  expect(checkBackground(submissions, daemon)).toEqual([]);
  expect(submissions.length).toBe(COUNT);
  expect(countOf('completed')).toBeGreaterThan(0);
  const [resumed] = rowsOf<{ count: number }>(daemon, 'SELECT count(*) AS count FROM runs WHERE resumes > 0');
  expect(resumed?.count, 'runs that a kill interrupted').toBeGreaterThan(0);
});
