// Firings on request, over HTTP.
import { beforeEach, describe, expect, test } from 'vitest';
import { TASK_LIMITS } from '../../../src/domain/schedules/task.ts';
import { PATH, data, message, type TaskFixture, taskFixture } from '../../support/http/task-fixture.ts';
import { fenceOf } from '../../support/store/store-fixture.ts';

let tasks: TaskFixture;

beforeEach(async () => {
  tasks = await taskFixture();
});

describe('a run on request', () => {
  test('is a firing with a session of its own, which shows in the list of firings and in the task', {
    tags: ['I5-replies'],
  }, async () => {
    tasks.rows.clock.advance(1_000);
    const got = await tasks.run();
    expect(got.status).toBe(201);
    const firing = data(got);
    expect(firing).toEqual({
      id: expect.any(Number),
      scheduled_task_id: tasks.own,
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      due_at: '2026-03-01T12:00:01.000Z',
      trigger: 'manual',
      status: 'pending',
      step_no: 1,
      step_count: 1,
      created_at: '2026-03-01T12:00:01.000Z',
      ended_at: null,
    });
    expect(data(await tasks.user({ path: `${PATH}/${tasks.own}/firings` }))).toEqual({ items: [firing], total: 1 });
    expect(await tasks.read(tasks.own)).toMatchObject({
      last_fired_at: '2026-03-01T12:00:01.000Z',
      last_status: 'pending',
    });
    const session = await tasks.rows.store.sessions.find(String(firing['session_id']));
    expect(session).toMatchObject({ kind: 'scheduled', title: 'Tides', keySeq: null, userSeq: tasks.rows.user.seq });
  });

  test('is a conflict while an earlier firing is unfinished, unless the task queues them', async () => {
    await tasks.run();
    const got = await tasks.run();
    expect([got.status, message(got)]).toEqual([409, 'An earlier firing of the task has not ended.']);
    await tasks.change({ overlap: 'queue' });
    const statuses = [];
    for (let no = 0; no <= TASK_LIMITS.queuedFirings; no += 1) statuses.push((await tasks.run()).status);
    expect(statuses).toEqual([...Array(TASK_LIMITS.queuedFirings).fill(201), 409]);
  });

  test('is possible while the task is disabled, and again when the firing has ended', async () => {
    await tasks.change({ enabled: false });
    expect((await tasks.run()).status).toBe(201);
    const [claimed] = await tasks.rows.claim();
    await tasks.rows.store.runs.finalize(fenceOf(claimed!), {
      outcome: 'completed',
      answer: 'Done.',
      stopReason: 'end_turn',
    });
    await tasks.rows.store.runs.settle(fenceOf(claimed!));
    expect(await tasks.read(tasks.own)).toMatchObject({ last_status: 'completed', enabled: false });
    expect((await tasks.run()).status).toBe(201);
  });

  test('is refused while the owner is disabled, no worker is there, the daemon ends, or the disk is full', async () => {
    await tasks.rows.store.users.change('otto', { disabled: true });
    expect((await tasks.run(tasks.ofOther, tasks.admin)).status).toBe(409);
    for (const [none, status] of [
      [0, 503],
      [4, 201],
    ] as const) {
      tasks.now.capacity = none;
      expect((await tasks.run()).status).toBe(status);
    }
    tasks.now.shortage = { words: 'The disk is almost full.' };
    expect((await tasks.run()).status).toBe(503);
    Object.assign(tasks.now, { shortage: null, draining: true });
    expect((await tasks.run()).status).toBe(503);
    expect(tasks.rows.rows('SELECT id FROM firings')).toHaveLength(1);
  });
});
