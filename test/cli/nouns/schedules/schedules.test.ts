// `errand schedules`: what it asks for, what it prints, and how it ends.
import { expect, test } from 'vitest';
import type { FiringWire, ScheduledTaskWire } from '../../../../src/wire/schedules/scheduled-task.ts';
import { refuse, type Route, run, startFakeDaemon } from '../../outside.ts';

const ID = '0190f6a0-0000-7000-8000-000000000001';
const OTHER = '0190f6a0-0000-7000-8000-000000000002';
const STEP = '0190f6a0-0000-7000-8000-000000000003';
const SESSION = '0190f6a0-0000-7000-8000-000000000009';
const PROJECT = '0190f6a0-0000-4000-8000-00000000000a';
const AT = '2026-03-01T11:59:59.500Z';
const PATH = '/api/v1/scheduled-tasks';

const TASK: ScheduledTaskWire = {
  scheduled_task_id: ID,
  name: 'news',
  cron: '30 8 * * *',
  timezone: 'Australia/Lord_Howe',
  prompt: 'Write /news.md',
  steps: [{ scheduled_task_step_id: STEP, prompt: 'Write /news.md' }],
  owner: { user_id: OTHER, username: 'mara' },
  target: 'free',
  project_id: null,
  enabled: true,
  overlap: 'skip',
  next_fires_at: ['2026-10-02T22:00:00.000Z', '2026-10-03T21:30:00.000Z'],
  last_fired_at: null,
  last_status: null,
  last_skipped_at: null,
  created_at: AT,
  updated_at: AT,
};
const FIRING: FiringWire = {
  id: 7,
  scheduled_task_id: ID,
  session_id: SESSION,
  due_at: AT,
  trigger: 'manual',
  status: 'pending',
  step_no: 1,
  step_count: 2,
  created_at: AT,
  ended_at: null,
};

/** A daemon with the task, which is found by its name, and what else is given. */
const taskDaemon = (more: Readonly<Record<string, Route>> = {}) =>
  startFakeDaemon({
    [`GET ${PATH}?name=news&limit=5`]: () => ({ items: [TASK], total: 1 }),
    [`GET ${PATH}/${ID}`]: () => TASK,
    ...more,
  });

const CREATE = ['schedules', 'create', 'news', '--user', 'mara'];

test('a task is created with what its options say', { tags: ['K7-schedules'] }, async () => {
  const { dataDir, received } = await startFakeDaemon({ [`POST ${PATH}`]: () => TASK });
  const work = ['--prompt', 'Tides.', '--step', 'Collect', '--step', 'Write', '--target', 'team:press'];
  const flags = ['--project', PROJECT, '--overlap', 'queue', '--disabled', '--timezone', 'Australia/Lord_Howe'];
  const { code, stdout, stderr } = await run([...CREATE, ...work, ...flags, '--daily', '08:30', '-o', 'json'], {
    dataDir,
  });
  expect([code, JSON.parse(stdout)]).toEqual([0, TASK]);
  expect(received.at(-1)?.body).toEqual({
    name: 'news',
    user: 'mara',
    cron: '30 8 * * *',
    timezone: 'Australia/Lord_Howe',
    prompt: 'Tides.',
    steps: [{ prompt: 'Collect' }, { prompt: 'Write' }],
    target: 'team:press',
    project_id: PROJECT,
    overlap: 'queue',
    enabled: false,
  });
  expect(stderr).toContain('"news" fires at 08:30 every day, in the time of Australia/Lord_Howe.');
  // The clocks change in between, by half an hour.
  expect(stderr).toMatch(/ {2}Sat 2026-10-03 08:30 GMT\+10:30, here .*\n {2}Sun 2026-10-04 08:30 GMT\+11, here /);
});

test.each([
  ['--daily', '08:30', '30 8 * * *', new Intl.DateTimeFormat().resolvedOptions().timeZone],
  ['--cron', '0 7 1 * *', '0 7 1 * *', new Intl.DateTimeFormat().resolvedOptions().timeZone],
  ['--every', '15m', '*/15 * * * *', 'UTC'],
])('without a time zone, %s has that of this terminal, or one without changes', async (flag, value, cron, timezone) => {
  const { dataDir, received } = await startFakeDaemon({ [`POST ${PATH}`]: () => TASK });
  await run([...CREATE, '--prompt', 'Write', flag, value], { dataDir });
  expect(received.at(-1)?.body).toEqual({ name: 'news', user: 'mara', cron, timezone, prompt: 'Write' });
});

test.each([
  [['--prompt', 'x'], 'Give one of --cron, --every and --daily.'],
  [['--daily', '08:30'], 'Give --prompt, or at least one --step.'],
  [['--prompt', 'x', '--every', '7m'], 'It must divide the hour or the day: 1m, 2m'],
  [['--prompt', 'x', '--daily', '25:00'], 'It must be a time from 00:00 to 23:59'],
  [['--prompt', 'x', '--daily', '08:30', '--every', '1h'], 'cannot be used with'],
  [['--prompt', 'x', '--cron', '* * * * *', '--every', '1h'], 'cannot be used with'],
  [['--prompt', 'x', '--cron', '* * * * *', '--daily', '08:30'], 'cannot be used with'],
  [['--prompt', ' ', '--daily', '08:30'], 'It must not be empty.'],
  [['--prompt', 'x', '--daily', '08:30', '--overlap', 'both'], 'Allowed choices are skip, queue.'],
  [['--prompt', 'x', '--daily', '08:30', '--project', 'harbour'], 'It must be a UUID.'],
])('refused before anything is sent: %j', async (flags, words) => {
  const { dataDir, received } = await startFakeDaemon({});
  const { code, stderr } = await run([...CREATE, ...flags], { dataDir });
  expect([code, received]).toEqual([2, []]);
  expect(stderr).toContain(words);
});

test('the daemon says which field is wrong, and the command ends as a usage error', async () => {
  const refusal: Route = (_, response) => refuse(response, 422, 'cron: must fire at least once within 30 years');
  const { dataDir } = await startFakeDaemon({ [`POST ${PATH}`]: refusal });
  const ended = await run([...CREATE, '--prompt', 'x', '--cron', '0 0 31 2 *'], { dataDir });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('cron: must fire at least once') });
});

test('tasks are listed in words, and by what the filters say', async () => {
  const lists: Route = () => ({ items: [TASK], total: 3 });
  const { dataDir } = await startFakeDaemon({ [`GET ${PATH}?user=mara&enabled=false&limit=1&offset=1`]: lists });
  const filters = ['--user', 'mara', '--disabled', '--limit', '1', '--offset', '1'];
  const { code, stdout, stderr } = await run(['schedules', 'list', ...filters], { dataDir });
  expect(code).toBe(0);
  expect(stdout).toBe(
    `${[ID, 'enabled', 'news', 'mara', 'at 08:30 every day', 'Australia/Lord_Howe', TASK.next_fires_at[0], '', ''].join('\t')}\n`,
  );
  expect(stderr).toBe('1 of 3 scheduled tasks.\n');
});

test('a task is shown by its name, its id and the start of it', async () => {
  const { dataDir } = await taskDaemon({
    [`GET ${PATH}?name=0190f6a0&limit=5`]: () => ({ items: [], total: 0 }),
    'GET /api/v1/ids/scheduled-tasks/0190f6a0': () => ({ id: ID }),
  });
  for (const reference of ['news', ID, '0190f6a0']) {
    const { code, stdout } = await run(['schedules', 'show', reference, '-o', 'json'], { dataDir });
    expect([reference, code, JSON.parse(stdout)]).toEqual([reference, 0, TASK]);
  }
  const { stdout } = await run(['schedules', 'show', 'news'], { dataDir });
  expect(stdout).toContain('fires\tat 08:30 every day\n');
  expect(stdout).toContain('steps\t1. Write /news.md\n');
});

test('a name of several tasks names them all, and ends with a conflict', async () => {
  const twin = { ...TASK, scheduled_task_id: OTHER, owner: { user_id: SESSION, username: 'otto' } };
  const { dataDir } = await startFakeDaemon({
    [`GET ${PATH}?name=news&limit=5`]: () => ({ items: [TASK, twin], total: 7 }),
  });
  const { code, stderr } = await run(['schedules', 'run', 'news'], { dataDir });
  expect(code).toBe(6);
  expect(stderr).toContain(
    `Several scheduled tasks are named news: ${ID} (mara), ${OTHER} (otto) and more. Give the id.`,
  );
});

test('a name of none is not found', async () => {
  const none: Route = () => ({ items: [], total: 0 });
  const gone: Route = (_, response) => refuse(response, 404, 'Scheduled task not found.');
  const { dataDir } = await startFakeDaemon({
    [`GET ${PATH}?name=a%20%2F%20b%3F&limit=5`]: none,
    [`GET ${PATH}/a%20%2F%20b%3F`]: gone,
  });
  expect(await run(['schedules', 'show', 'a / b?'], { dataDir })).toMatchObject({ code: 5 });
});

test('the next firings are shown in the zone of the task, and here', { tags: ['K7-schedules'] }, async () => {
  const { dataDir } = await taskDaemon();
  const { stdout, stderr } = await run(['schedules', 'next', 'news'], { dataDir });
  const [first, second] = stdout.split('\n').map((line) => line.split('\t'));
  expect(first?.slice(0, 2)).toEqual(['2026-10-02T22:00:00.000Z', 'Sat 2026-10-03 08:30 GMT+10:30']);
  expect(second?.slice(0, 2)).toEqual(['2026-10-03T21:30:00.000Z', 'Sun 2026-10-04 08:30 GMT+11']);
  expect(stderr).toContain('"news" fires at 08:30 every day');
  const { stdout: json } = await run(['schedules', 'next', 'news', '-o', 'json'], { dataDir });
  const { scheduled_task_id, cron, timezone, enabled, next_fires_at } = TASK;
  expect(JSON.parse(json)).toEqual({ scheduled_task_id, cron, timezone, enabled, next_fires_at });
});

test('a disabled task has no next firing, and says so', async () => {
  const disabled = { ...TASK, enabled: false, next_fires_at: [] };
  const { dataDir } = await startFakeDaemon({ [`GET ${PATH}/${ID}`]: () => disabled });
  const { code, stdout, stderr } = await run(['schedules', 'next', ID], { dataDir });
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toContain('"news" is disabled. Enabled, it fires at 08:30 every day');
});

test.each([
  [['enable'], { enabled: true }],
  [['disable'], { enabled: false }],
  [['set', '--name', 'tides', '--every', '2h'], { name: 'tides', cron: '0 */2 * * *' }],
  [['set', '--daily', '7:45', '--timezone', 'UTC'], { cron: '45 7 * * *', timezone: 'UTC' }],
  [['set', '--step', 'One', '--step', 'Two'], { steps: [{ prompt: 'One' }, { prompt: 'Two' }] }],
  [['set', '--no-steps', '--prompt', 'All of it'], { prompt: 'All of it', steps: null }],
  [['set', '--project', 'none', '--target', 'free'], { project_id: null, target: 'free' }],
])('%j changes only that', async ([verb, ...flags], body) => {
  const { dataDir, received } = await taskDaemon({ [`PATCH ${PATH}/${ID}`]: () => TASK });
  expect(await run(['schedules', verb!, 'news', ...flags], { dataDir })).toMatchObject({ code: 0 });
  expect(received.at(-1)?.body).toEqual(body);
});

test('a change of nothing is a usage error', async () => {
  const { dataDir } = await taskDaemon();
  expect(await run(['schedules', 'set', 'news'], { dataDir })).toMatchObject({ code: 2 });
});

test('a task is fired now, and the firing names its session', { tags: ['K7-schedules'] }, async () => {
  const { dataDir } = await taskDaemon({ [`POST ${PATH}/${ID}/run`]: () => FIRING });
  const { code, stdout, stderr } = await run(['schedules', 'run', 'news', '-o', 'json'], { dataDir });
  expect([code, JSON.parse(stdout)]).toEqual([0, FIRING]);
  expect(stderr).toContain(`sessions messages ${SESSION}`);
});

test('firings are listed', async () => {
  const { dataDir } = await taskDaemon({
    [`GET ${PATH}/${ID}/firings?limit=2&offset=4`]: () => ({ items: [FIRING], total: 1 }),
  });
  const { stdout } = await run(['schedules', 'firings', 'news', '--limit', '2', '--offset', '4'], { dataDir });
  expect(stdout).toBe(`7\tpending\t${AT}\tmanual\t1 of 2\t${SESSION}\t\n`);
});

test('a task is deleted once that is confirmed', async () => {
  const { dataDir, received } = await taskDaemon({ [`DELETE ${PATH}/${ID}`]: () => ({ scheduled_task_id: ID }) });
  const { stderr } = await run(['schedules', 'delete', 'news'], { dataDir });
  expect(received.some(({ method }) => method === 'DELETE')).toBe(false);
  expect(stderr).toContain('--yes');
  const { code, stdout } = await run(['schedules', 'delete', 'news', '--yes', '-o', 'json'], { dataDir });
  expect([code, JSON.parse(stdout)]).toEqual([0, { scheduled_task_id: ID }]);
});
