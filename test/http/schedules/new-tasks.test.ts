// New scheduled tasks over HTTP: what is kept, and what is refused.
import { beforeEach, expect, test } from 'vitest';
import { TASK_LIMITS } from '../../../src/domain/schedules/task.ts';
import {
  NEW,
  PATH,
  PROJECT,
  UNKNOWN,
  data,
  message,
  type TaskFixture,
  taskFixture,
  type TaskWire,
} from '../../support/http/task-fixture.ts';

let tasks: TaskFixture;

beforeEach(async () => {
  tasks = await taskFixture();
});

test('a new task has the documented defaults, and shows when it fires next', {
  tags: ['I1-fields', 'I5-replies'],
}, async () => {
  const { timezone: _, ...noZone } = NEW;
  const got = await tasks.user({ method: 'POST', path: PATH, body: noZone });
  expect(got.status).toBe(201);
  const task = data(got) as unknown as TaskWire;
  expect(task).toEqual({
    scheduled_task_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'News',
    cron: '30 8 * * 1-5',
    timezone: 'UTC',
    prompt: 'Write /news.md',
    steps: [{ scheduled_task_step_id: expect.stringMatching(/^[0-9a-f-]{36}$/), prompt: 'Write /news.md' }],
    owner: { user_id: tasks.rows.user.id, username: 'mara' },
    target: 'free',
    project_id: null,
    enabled: true,
    overlap: 'skip',
    // The clock is at noon of Sunday, March 1.
    next_fires_at: [2, 3, 4, 5, 6].map((day) => `2026-03-0${day}T08:30:00.000Z`),
    last_fired_at: null,
    last_status: null,
    last_skipped_at: null,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
  });
  expect(await tasks.read(task.scheduled_task_id)).toEqual(task);
});

test('times are those of the zone, also over a change of its clocks', async () => {
  const got = await tasks.create({ cron: '30 2 * 3 0' });
  expect(data(got)['next_fires_at']).toEqual([
    '2026-03-08T01:30:00.000Z',
    '2026-03-15T01:30:00.000Z',
    '2026-03-22T01:30:00.000Z',
    // 02:30 is skipped on this day: it fires at the change.
    '2026-03-29T01:00:00.000Z',
    '2027-03-07T01:30:00.000Z',
  ]);
});

test('everything that can be chosen is kept', { tags: ['I1-fields'] }, async () => {
  const steps = [{ prompt: 'Collect' }, { prompt: 'Write' }];
  const chosen = { target: 'team:press', project_id: PROJECT, enabled: false, overlap: 'queue', steps };
  const task = data(await tasks.create(chosen));
  expect(task).toMatchObject({ ...NEW, ...chosen, next_fires_at: [] });
  expect(data(await tasks.create({ prompt: null, steps, target: 'expert:pilot' }))).toMatchObject({
    prompt: null,
    steps,
  });
});

const stepsOf = (count: number, prompt: string) => Array.from({ length: count }, () => ({ prompt }));
const WRONG: readonly (readonly [string, object, string])[] = [
  ['no name', { name: '' }, 'name'],
  ['a name of two lines', { name: 'a\nb' }, 'name'],
  ['a name that is too long', { name: 'x'.repeat(TASK_LIMITS.name + 1) }, 'name'],
  ['a name that is no text', { name: 7 }, 'name'],
  ['no cron', { cron: undefined }, 'cron'],
  ['an empty cron', { cron: '' }, 'cron'],
  ['six fields, with seconds', { cron: '0 30 8 * * 1' }, 'cron'],
  ['a firing each second', { cron: '* * * * * *' }, 'cron'],
  ['seven fields', { cron: '0 30 8 * * 1 2027' }, 'cron'],
  ['four fields', { cron: '30 8 * *' }, 'cron'],
  ['a nickname', { cron: '@daily' }, 'cron'],
  ['a moment', { cron: '2027-01-01T00:00:00' }, 'cron'],
  ['words', { cron: 'every day at half past' }, 'cron'],
  ['minute 60', { cron: '60 8 * * *' }, 'cron'],
  ['hour 24', { cron: '0 24 * * *' }, 'cron'],
  ['month 13', { cron: '0 0 1 13 *' }, 'cron'],
  ['31 February', { cron: '0 0 31 2 *' }, 'cron'],
  ['30 February', { cron: '0 0 30 2 *' }, 'cron'],
  ['31 April or June', { cron: '0 0 31 4,6 *' }, 'cron'],
  ['a step of 0', { cron: '*/0 * * * *' }, 'cron'],
  ['a reversed range', { cron: '0 9-7 * * *' }, 'cron'],
  ['a cron that is too long', { cron: `${'0,'.repeat(TASK_LIMITS.cron)}0 8 * * *` }, 'cron'],
  ['a cron of two lines', { cron: '30 8 * *\n*' }, 'cron'],
  ['an unknown zone', { timezone: 'Europe/Atlantis' }, 'timezone'],
  ['an offset', { timezone: '+08:00' }, 'timezone'],
  ['an offset in words', { timezone: 'UTC+8' }, 'timezone'],
  ['an empty zone', { timezone: '' }, 'timezone'],
  ['a zone that is no text', { timezone: 2 }, 'timezone'],
  ['no zone', { timezone: null }, 'timezone'],
  ['nothing to do', { prompt: undefined }, 'prompt'],
  ['a blank prompt', { prompt: ' \n' }, 'prompt'],
  ['a prompt that is too long', { prompt: 'x'.repeat(TASK_LIMITS.prompt + 1) }, 'prompt'],
  ['a NUL', { prompt: 'a\0b' }, 'prompt'],
  ['a lone surrogate', { prompt: 'a\ud800b' }, 'prompt'],
  ['steps that are no list', { steps: 'Write' }, 'steps'],
  ['a step that is a text', { steps: ['Write'] }, 'steps[0]'],
  ['an empty step', { steps: [{ prompt: 'a' }, { prompt: '' }] }, 'steps[1].prompt'],
  [
    'a step with an id, in a new task',
    { steps: [{ scheduled_task_step_id: UNKNOWN, prompt: 'a' }] },
    'steps[0].scheduled_task_step_id',
  ],
  [
    'a step whose id is no UUID',
    { steps: [{ scheduled_task_step_id: '1', prompt: 'a' }] },
    'steps[0].scheduled_task_step_id',
  ],
  ['too many steps', { steps: stepsOf(TASK_LIMITS.steps + 1, 'a') }, 'steps'],
  ['too many characters', { steps: stepsOf(3, 'x'.repeat(70_000)) }, 'steps'],
  ['an odd target', { target: 'pilot' }, 'target'],
  ['an unknown expert', { target: 'expert:press' }, 'target'],
  ['an unknown team', { target: 'team:pilot' }, 'target'],
  ['a project that is no UUID', { project_id: 'harbour' }, 'project_id'],
  ['an odd overlap', { overlap: 'replace' }, 'overlap'],
  ['enabled in words', { enabled: 'yes' }, 'enabled'],
];

test('whatever is wrong is 422 with its field, and nothing is kept', { tags: ['I8-cron'] }, async () => {
  for (const [name, body, field] of WRONG) {
    const got = await tasks.create(body);
    expect([name, got.status, message(got).slice(0, field.length + 2)]).toEqual([name, 422, `${field}: `]);
  }
  expect(data(await tasks.user({ path: PATH }))).toMatchObject({ total: 1 });
});

test('a body over 1 MB is refused before it is read', async () => {
  expect((await tasks.create({ prompt: 'x'.repeat(1_100_000) })).status).toBe(413);
});
