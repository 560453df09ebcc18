// Changed and deleted scheduled tasks over HTTP.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  PATH,
  PROJECT,
  UNKNOWN,
  data,
  message,
  TASK,
  type TaskFixture,
  taskFixture,
} from '../../support/http/task-fixture.ts';

let tasks: TaskFixture;

beforeEach(async () => {
  tasks = await taskFixture();
});

describe('a change', () => {
  test.each([
    [{ name: 'Ebb' }, { name: 'Ebb' }],
    [{ cron: '0 9 * * *' }, { cron: '0 9 * * *', next_fires_at: expect.arrayContaining(['2026-03-02T09:00:00.000Z']) }],
    [{ timezone: 'Asia/Shanghai' }, { next_fires_at: expect.arrayContaining(['2026-03-01T23:00:00.000Z']) }],
    [{ target: 'expert:pilot' }, { target: 'expert:pilot' }],
    [{ project_id: PROJECT }, { project_id: PROJECT }],
    [{ overlap: 'queue' }, { overlap: 'queue' }],
    [{ enabled: false }, { enabled: false, next_fires_at: [] }],
    [{ prompt: 'Tides' }, { prompt: 'Tides', steps: [{ scheduled_task_step_id: UNKNOWN, prompt: 'Look' }] }],
    [
      { prompt: 'Tides', steps: [] },
      { prompt: 'Tides', steps: [expect.objectContaining({ prompt: 'Tides' })] },
    ],
    [
      { steps: [{ prompt: 'First' }, { scheduled_task_step_id: UNKNOWN.toUpperCase(), prompt: 'Look again' }] },
      {
        steps: [
          expect.objectContaining({ prompt: 'First' }),
          { scheduled_task_step_id: UNKNOWN, prompt: 'Look again' },
        ],
      },
    ],
  ])('of %j changes that and nothing else', { tags: ['I1-fields'] }, async (body, changed) => {
    const before = await tasks.read(tasks.own);
    tasks.rows.clock.advance(1_000);
    const got = await tasks.change(body);
    expect(got.status).toBe(200);
    const moved = 'timezone' in body ? { timezone: body.timezone } : {};
    expect(data(got)).toEqual({ ...before, ...moved, ...changed, updated_at: '2026-03-01T12:00:01.000Z' });
    expect(await tasks.read(tasks.own)).toEqual(data(got));
  });

  test.each([
    ['nothing', {}, 'body'],
    ['only unknown fields', { colour: 'red' }, 'body'],
    ['a cron that never fires', { cron: '0 0 30 2 *' }, 'cron'],
    ['an unknown zone', { timezone: 'Mars/Olympus' }, 'timezone'],
    ['an unknown expert', { target: 'expert:nobody' }, 'target'],
    ['no step and no prompt', { steps: null }, 'prompt'],
    [
      'the step of another task',
      { steps: [{ scheduled_task_step_id: PROJECT, prompt: 'a' }] },
      'steps[0].scheduled_task_step_id',
    ],
  ])('of %s is 422, and changes nothing', async (_name, body, field) => {
    const before = await tasks.read(tasks.own);
    const got = await tasks.change(body);
    expect([got.status, message(got)]).toEqual([422, expect.stringMatching(`^${field.replace(/[[\]]/g, '\\$&')}: `)]);
    expect(await tasks.read(tasks.own)).toEqual(before);
  });

  test('of a task of an expert that is gone is possible, as long as it is not of the target', async () => {
    const { id } = await tasks.rows.store.schedules.create({
      ...TASK,
      userSeq: tasks.rows.user.seq,
      target: 'expert:gone',
      work: { prompt: null, steps: [{ id: PROJECT, prompt: 'Look' }] },
    });
    expect((await tasks.change({ name: 'Ebb' }, id)).status).toBe(200);
  });
});

test('changes of the prompt and of the steps that come at once are both kept', async () => {
  const { find } = tasks.rows.store.schedules;
  const both = Promise.withResolvers<void>();
  const found = vi.spyOn(tasks.rows.store.schedules, 'find').mockImplementation(async (id) => {
    const task = await find(id);
    if (found.mock.calls.length === 2) both.resolve();
    await both.promise;
    return task;
  });
  const [first, second] = await Promise.all([
    tasks.change({ prompt: 'Of tides.' }),
    tasks.change({ steps: [{ prompt: 'Write.' }] }),
  ]);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(await tasks.read(tasks.own)).toMatchObject({ prompt: 'Of tides.', steps: [{ prompt: 'Write.' }] });
});

test('a deleted task is gone, with its firings that have not begun', async () => {
  await tasks.run();
  const got = await tasks.user({ method: 'DELETE', path: `${PATH}/${tasks.own}` });
  expect([got.status, data(got)]).toEqual([200, { scheduled_task_id: tasks.own }]);
  expect((await tasks.user({ path: `${PATH}/${tasks.own}` })).status).toBe(404);
  expect((await tasks.run()).status).toBe(404);
  expect((await tasks.user({ method: 'DELETE', path: `${PATH}/${tasks.own}` })).status).toBe(404);
  expect(data(await tasks.user({ path: PATH }))).toMatchObject({ items: [], total: 0 });
  expect(tasks.rows.rows('SELECT status FROM firings')).toEqual([{ status: 'stopped' }]);
});
