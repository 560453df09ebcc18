// `errand runs list`: what was asked, how long it took, and what it cost.
import { expect, test } from 'vitest';
import { isoTime } from '../../../../src/domain/clock.ts';
import { NOW, run, startFakeDaemon } from '../../outside.ts';

const RUN = {
  run_id: '0190f6a1-0000-7000-8000-000000000001',
  session_id: '0190f6a0-0000-7000-8000-000000000002',
  username: 'mara',
  title: 'Tell me\tof tides.',
  status: 'completed',
  waiting_for_user: false,
  model: 'scripted',
  cost_usd: 0.0712,
  created_at: isoTime(NOW - 300_000),
  started_at: isoTime(NOW - 200_000),
  finished_at: isoTime(NOW - 75_000),
};
const RUNS = [
  RUN,
  { ...RUN, status: 'running', cost_usd: 0, finished_at: null },
  { ...RUN, status: 'queued', cost_usd: 0, started_at: null, finished_at: null },
];

test('a list of runs says what each was asked, how long it has worked, and what that cost', async () => {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/runs': () => ({ items: RUNS, total: RUNS.length }) });
  const { stdout } = await run(['runs', 'list'], { dataDir });
  const cells = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  expect(cells.map((row) => row.slice(6))).toEqual([
    ['2:05', '$0.07', 'Tell me of tides.'],
    ['3:20', '$0.00', 'Tell me of tides.'],
    ['', '$0.00', 'Tell me of tides.'],
  ]);
  const shown = await run(['runs', 'list'], { dataDir, terminal: { stdout: true } });
  expect(shown.stdout).toMatch(/DURATION.*TITLE/);
  expect(shown.stdout).toMatch(/completed.* 2:05 .*Tell me of/);
});

test('a run that somebody stopped is called that, and found by it; scripts may have the word of the API', async () => {
  const runs = [{ ...RUN, status: 'canceled' }];
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/runs?status=canceled': () => ({ items: runs, total: 1 }),
  });
  for (const word of ['stopped', 'canceled'])
    expect((await run(['runs', 'list', '--status', word], { dataDir })).stdout).toMatch(/\tstopped\t/);
  expect(received).toHaveLength(2);
  const { items } = JSON.parse((await run(['runs', 'list', '--status', 'stopped', '-o', 'json'], { dataDir })).stdout);
  expect(items).toMatchObject([{ status: 'canceled' }]);
  for (const word of ['dead', 'constructor']) {
    const { code, stderr } = await run(['runs', 'list', '--status', word], { dataDir });
    expect([code, stderr]).toEqual([2, expect.not.stringContaining('canceled')]);
  }
});
