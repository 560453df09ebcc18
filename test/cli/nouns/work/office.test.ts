import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { anEntity, aSnapshot, startOfficeServer } from '../../../support/http/office-server.ts';
import { makeDirectory, run } from '../../outside.ts';

async function office(...args: readonly string[]) {
  const entities = [
    anEntity(1),
    anEntity(2, {
      team_id: '__unassigned__',
      team_name: 'Unassigned',
      status: 'failed',
      detail: null,
      last_error: 'No model.',
    }),
  ];
  const server = await startOfficeServer(aSnapshot(entities));
  onTestFinished(() => server.die());
  const keyFile = path.join(makeDirectory(), 'key');
  writeFileSync(keyFile, 'errand_key');
  const ended = await run(['office', '--url', server.url(), '--token-file', keyFile, ...args]);
  return { server, ended, entities };
}

test('without a terminal the live view names --once, and nothing is asked of the daemon', async () => {
  const { ended, server } = await office();
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('Add --once');
  expect(server.requests).toEqual([]);
});

test('--once prints a row per run and the counters', { tags: ['K7-observing'] }, async () => {
  const { ended, server, entities } = await office('--once', '--tz', 'Asia/Kathmandu');
  expect(ended.code).toBe(0);
  const rows = ended.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  expect(rows).toEqual([
    [
      entities[0]?.run_id,
      'running',
      '45%',
      'ann',
      'Research',
      '1m 1s',
      '18200',
      '0.07',
      'Plot the sales of quarter 1',
      'shell: python plot.py',
    ],
    [
      entities[1]?.run_id,
      'failed',
      '45%',
      'ann',
      'Unassigned',
      '1m 2s',
      '18200',
      '0.07',
      'Plot the sales of quarter 2',
      'No model.',
    ],
  ]);
  expect(ended.stderr).toContain(
    '1 running, 0 pending, 0 completed, 1 failed, 0 stopped; today $12.41 and 3.1M tokens.',
  );
  expect(server.requests).toEqual(['/api/v1/office-mode/snapshot?limit=96&tz=Asia%2FKathmandu']);
});

test('-o json prints the snapshot as it came', async () => {
  const { ended, server } = await office('-o', 'json');
  expect(JSON.parse(ended.stdout)).toEqual(server.snapshot);
});

test('--team takes a name or an id, and --session an id', async () => {
  const lines = async (...args: readonly string[]) => {
    const { ended } = await office('--once', ...args);
    return ended.stdout.split('\n').filter((line) => line !== '').length;
  };
  expect(await lines('--team', 'research')).toBe(1);
  expect(await lines('--team', 't2')).toBe(0);
  expect(await lines('--session', anEntity(2).session_id)).toBe(1);
  expect((await office('--once', '--team', 'nobody')).ended).toMatchObject({ code: 5 });
  const nowhere = await office('--once', '--session', anEntity(9).session_id);
  expect(nowhere.ended).toMatchObject({ code: 5, stdout: '' });
});

test.each([
  ['--tz', 'Mars/Olympus'],
  ['--interval', '0'],
  ['--session', 'abc'],
])('%s %s is refused before anything is sent', async (...args) => {
  const { ended, server } = await office('--once', ...args);
  expect(ended.code).toBe(2);
  expect(server.requests).toEqual([]);
});

test.each([['--once'], ['--team', 'Research'], ['--session', '0198c0de-0000-7000-9000-000000000001']])(
  '--web goes without %s, and asks nothing of the daemon then',
  async (...more) => {
    const { ended, server } = await office('--web', ...more);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('chosen in the browser');
    expect(server.requests).toEqual([]);
  },
);
