// The snapshot of the installation (§4.8 rules 1 and 2, G13) after some work.
import { expect, test } from 'vitest';
import { ledgerFaultsOf } from '../../support/store/open-store.ts';
import { aTask } from '../../support/store/schedules.ts';
import { COST, officeFixture, type OfficeFixture, TOKENS } from '../../support/store/office-fixture.ts';

/** When the virtual team is there (rule 1), and how many sessions it counts. */
const UNASSIGNED: Readonly<
  Record<string, readonly [play: (fixture: OfficeFixture) => Promise<unknown>, active: number | null]>
> = {
  'an empty installation': [async () => undefined, null],
  'people of no team who do nothing': [async (fixture) => fixture.person('ann'), null],
  'usage of nobody today': [async (fixture) => fixture.work({ who: await fixture.person('ann') }), 1],
  'usage of nobody yesterday': [
    async (fixture) => {
      await fixture.work({ who: await fixture.person('ann') });
      fixture.clock.jump(86_400_000);
    },
    null,
  ],
  'a live run of nobody without usage': [
    async (fixture) => fixture.work({ who: await fixture.person('ann'), calls: 0, goesOn: true }),
    1,
  ],
  'a run of nobody that waits for a worker': [async (fixture) => fixture.accept(await fixture.person('ann')), 1],
  'a run of nobody that ended without usage': [
    async (fixture) => fixture.work({ who: await fixture.person('ann'), calls: 0 }),
    null,
  ],
  'a live run of a member': [
    async (fixture) =>
      fixture.work({ who: await fixture.person('ann', await fixture.team('Red')), calls: 0, goesOn: true }),
    null,
  ],
  'a live unassigned run beyond the limit of the snapshot': [
    async (fixture) => {
      await fixture.work({ who: await fixture.person('ann'), calls: 0, goesOn: true });
      await fixture.work({ who: await fixture.person('ben', await fixture.team('Red')), calls: 0, goesOn: true });
    },
    1,
  ],
  'a live unassigned run in a session that only a team used': [
    async (fixture) => {
      const who = await fixture.person('ann', await fixture.team('Red'));
      const first = await fixture.work({ who });
      await fixture.join(who, null);
      await fixture.work({ who, in: first, calls: 0, goesOn: true });
    },
    1,
  ],
  'usage of somebody who has joined a team since': [
    async (fixture) => {
      const who = await fixture.person('ann');
      await fixture.work({ who });
      await fixture.join(who, await fixture.team('Red'));
    },
    null,
  ],
  'enabled tasks of nobody alone': [
    async (fixture) => {
      const { user } = await fixture.person('ann');
      await fixture.store.schedules.create(aTask(user.seq));
    },
    null,
  ],
  'usage of nobody in a session that was deleted': [
    async (fixture) => fixture.delete(await fixture.work({ who: await fixture.person('ann') })),
    1,
  ],
};

test('a team has as many scheduled tasks as its members have enabled, and the virtual team those of the others', {
  tags: ['§4.8-rule-9'],
}, async () => {
  const fixture = await officeFixture();
  const red = await fixture.team('Red');
  const ann = await fixture.person('ann', red);
  const ben = await fixture.person('ben', red);
  const eve = await fixture.person('eve');
  for (const { user } of [ann, ann, ben, eve]) await fixture.store.schedules.create(aTask(user.seq));
  await fixture.store.schedules.create(aTask(ann.user.seq, { enabled: false }));
  const gone = await fixture.store.schedules.create(aTask(ann.user.seq));
  await fixture.store.schedules.remove(gone.id);
  await fixture.work({ who: eve });
  const { teams, unassigned } = await fixture.snapshot();
  expect(teams.map(({ scheduledTasks }) => scheduledTasks)).toEqual([3]);
  expect(unassigned).toMatchObject({ active: 1, scheduledTasks: 1 });
});

test.each(Object.entries(UNASSIGNED))(
  'rule 1: the virtual team and %s',
  { tags: ['§4.8-rule-1'] },
  async (_, [play, active]) => {
    const fixture = await officeFixture();
    await play(fixture);
    expect((await fixture.snapshot('UTC', 1)).unassigned?.active ?? null).toBe(active);
  },
);

test('runs are counted by status whatever the limit says: live ones, and those that ended today', {
  tags: ['G13'],
}, async () => {
  const fixture = await officeFixture();
  const who = await fixture.person('ann');
  await fixture.work({ who });
  fixture.clock.jump(86_400_000);
  const done = await fixture.work({ who });
  await fixture.work({ who, in: done });
  const stopped = await fixture.accept(who);
  await fixture.store.runs.stopSession(stopped.sessionSeq, 'user_requested_stop');
  await fixture.work({ who, calls: 0, goesOn: true });
  await fixture.accept(who);
  const { runCounts, sessionCount, runs } = await fixture.snapshot('UTC', 1);
  expect(runCounts).toEqual({ queued: 1, running: 1, completed: 2, canceled: 1 });
  expect(sessionCount).toBe(4);
  expect(runs).toHaveLength(1);
});

test('rows are what runs, what waits, and what ended today, the newest first in each', { tags: ['G13'] }, async () => {
  const fixture = await officeFixture();
  const who = await fixture.person('ann');
  await fixture.work({ who });
  fixture.clock.jump(86_400_000);
  const ended = [await fixture.work({ who })];
  fixture.clock.jump(1_000);
  const running = [await fixture.work({ who, goesOn: true }), await fixture.work({ who, goesOn: true })];
  ended.push(await fixture.work({ who }));
  const queued = [await fixture.accept(who), await fixture.accept(who)];
  const expected = [...running.toReversed(), ...queued.toReversed(), ...ended.toReversed()].map(({ id }) => id);
  const idsOf = async (limit: number) => (await fixture.snapshot('UTC', limit)).runs.map(({ id }) => id);
  expect(await idsOf(96)).toEqual(expected);
  for (const limit of [1, 2, 3, 4, 5]) expect(await idsOf(limit)).toEqual(expected.slice(0, limit));
});

test('runs of deleted sessions are neither rows nor counted, and what they used is', {
  tags: ['§4.8-rule-7', 'G11'],
}, async () => {
  const fixture = await officeFixture();
  const who = await fixture.person('ann', await fixture.team('Red'));
  await fixture.work({ who });
  await fixture.delete(await fixture.work({ who }));
  await fixture.delete(await fixture.work({ who, goesOn: true }));
  const { runCounts, sessionCount, runs, recent, usage, teams } = await fixture.snapshot();
  expect([runs.length, recent.length, sessionCount]).toEqual([1, 1, 1]);
  expect(Object.values(runCounts).reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(usage).toEqual({ tokens: 3 * TOKENS, costUsd: expect.closeTo(3 * COST, 9) as number });
  expect(teams).toMatchObject([{ active: 3, tokens: 3 * TOKENS }]);
});

test('the installation’s usage is that of its teams, of users without one, and of deleted teams', async () => {
  const fixture = await officeFixture();
  const [red, blue] = [await fixture.team('Red'), await fixture.team('Blue')];
  const gone = await fixture.person('ann', red);
  await fixture.work({ who: gone });
  await fixture.work({ who: await fixture.person('ben', blue), calls: 2 });
  await fixture.work({ who: await fixture.person('cid'), calls: 3 });
  await fixture.join(gone, null);
  await fixture.change('DELETE FROM budgets');
  await fixture.change('DELETE FROM teams WHERE id = ?', red);
  const { usage, teams, unassigned } = await fixture.snapshot();
  expect(usage.tokens).toBe(6 * TOKENS);
  expect(teams.map(({ name, tokens }) => [name, tokens])).toEqual([['Blue', 2 * TOKENS]]);
  expect(unassigned).toMatchObject({ tokens: 3 * TOKENS, active: 1 });
  expect(ledgerFaultsOf(fixture.file)).toEqual([]);
});

test('the sessions that changed last are returned with their newest run, at most 24', { tags: ['G13'] }, async () => {
  const fixture = await officeFixture();
  const who = await fixture.person('ann', await fixture.team('Red'));
  const runs = [];
  for (let session = 0; session < 26; session += 1) {
    fixture.clock.jump(1_000);
    runs.push(await fixture.work({ who }));
  }
  fixture.clock.jump(86_400_000);
  const newest = await fixture.work({ who, in: runs[0]! });
  const { recent } = await fixture.snapshot();
  expect(recent).toHaveLength(24);
  expect(recent[0]).toMatchObject({
    sessionId: runs[0]!.sessionId,
    runId: newest.id,
    status: 'completed',
    teamName: 'Red',
  });
  expect(recent.slice(1).map(({ runId }) => runId)).toEqual(
    runs
      .slice(3)
      .toReversed()
      .map(({ id }) => id),
  );
});
