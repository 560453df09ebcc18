// The snapshot of the house (§4.8 rules 1 and 2, G13) after some work.
import { expect, test } from 'vitest';
import { ledgerFaults } from '../../../src/selftest/checks/ledger-faults.ts';
import { aTask } from '../../support/store/schedules.ts';
import { COST, officeHouse, type OfficeHouse, TOKENS } from '../../support/store/office-house.ts';

/** When the virtual team is there (rule 1), and how many sessions it counts. */
const UNASSIGNED: Readonly<
  Record<string, readonly [play: (house: OfficeHouse) => Promise<unknown>, active: number | null]>
> = {
  'an empty house': [async () => undefined, null],
  'people of no team who do nothing': [async (house) => house.person('ann'), null],
  'usage of nobody today': [async (house) => house.work({ who: await house.person('ann') }), 1],
  'usage of nobody yesterday': [
    async (house) => {
      await house.work({ who: await house.person('ann') });
      house.clock.jump(86_400_000);
    },
    null,
  ],
  'a live run of nobody without usage': [
    async (house) => house.work({ who: await house.person('ann'), calls: 0, goesOn: true }),
    1,
  ],
  'a run of nobody that waits for a worker': [async (house) => house.accept(await house.person('ann')), 1],
  'a run of nobody that ended without usage': [
    async (house) => house.work({ who: await house.person('ann'), calls: 0 }),
    null,
  ],
  'a live run of a member': [
    async (house) => house.work({ who: await house.person('ann', await house.team('Red')), calls: 0, goesOn: true }),
    null,
  ],
  'a live unassigned run beyond the limit of the snapshot': [
    async (house) => {
      await house.work({ who: await house.person('ann'), calls: 0, goesOn: true });
      await house.work({ who: await house.person('ben', await house.team('Red')), calls: 0, goesOn: true });
    },
    1,
  ],
  'a live unassigned run in a session that only a team used': [
    async (house) => {
      const who = await house.person('ann', await house.team('Red'));
      const first = await house.work({ who });
      await house.join(who, null);
      await house.work({ who, in: first, calls: 0, goesOn: true });
    },
    1,
  ],
  'usage of somebody who has joined a team since': [
    async (house) => {
      const who = await house.person('ann');
      await house.work({ who });
      await house.join(who, await house.team('Red'));
    },
    null,
  ],
  'enabled tasks of nobody alone': [
    async (house) => {
      const { user } = await house.person('ann');
      await house.store.schedules.create(aTask(user.seq));
    },
    null,
  ],
  'usage of nobody in a session that was deleted': [
    async (house) => house.delete(await house.work({ who: await house.person('ann') })),
    1,
  ],
};

test('a team has as many scheduled tasks as its members have enabled, and the virtual team those of the others', {
  tags: ['§4.8-rule-9'],
}, async () => {
  const house = await officeHouse();
  const red = await house.team('Red');
  const ann = await house.person('ann', red);
  const ben = await house.person('ben', red);
  const eve = await house.person('eve');
  for (const { user } of [ann, ann, ben, eve]) await house.store.schedules.create(aTask(user.seq));
  await house.store.schedules.create(aTask(ann.user.seq, { enabled: false }));
  const gone = await house.store.schedules.create(aTask(ann.user.seq));
  await house.store.schedules.remove(gone.id);
  await house.work({ who: eve });
  const { teams, unassigned } = await house.snapshot();
  expect(teams.map(({ scheduledTasks }) => scheduledTasks)).toEqual([3]);
  expect(unassigned).toMatchObject({ active: 1, scheduledTasks: 1 });
});

test.each(Object.entries(UNASSIGNED))(
  'rule 1: the virtual team and %s',
  { tags: ['§4.8-rule-1'] },
  async (_, [play, active]) => {
    const house = await officeHouse();
    await play(house);
    expect((await house.snapshot('UTC', 1)).unassigned?.active ?? null).toBe(active);
  },
);

test('runs are counted by status whatever the limit says: live ones, and those that ended today', {
  tags: ['G13'],
}, async () => {
  const house = await officeHouse();
  const who = await house.person('ann');
  await house.work({ who });
  house.clock.jump(86_400_000);
  const done = await house.work({ who });
  await house.work({ who, in: done });
  const stopped = await house.accept(who);
  await house.store.runs.stopSession(stopped.sessionSeq, 'user_requested_stop');
  await house.work({ who, calls: 0, goesOn: true });
  await house.accept(who);
  const { runCounts, sessionCount, runs } = await house.snapshot('UTC', 1);
  expect(runCounts).toEqual({ queued: 1, running: 1, completed: 2, canceled: 1 });
  expect(sessionCount).toBe(4);
  expect(runs).toHaveLength(1);
});

test('rows are what runs, what waits, and what ended today, the newest first in each', { tags: ['G13'] }, async () => {
  const house = await officeHouse();
  const who = await house.person('ann');
  await house.work({ who });
  house.clock.jump(86_400_000);
  const ended = [await house.work({ who })];
  house.clock.jump(1_000);
  const running = [await house.work({ who, goesOn: true }), await house.work({ who, goesOn: true })];
  ended.push(await house.work({ who }));
  const queued = [await house.accept(who), await house.accept(who)];
  const expected = [...running.toReversed(), ...queued.toReversed(), ...ended.toReversed()].map(({ id }) => id);
  const idsOf = async (limit: number) => (await house.snapshot('UTC', limit)).runs.map(({ id }) => id);
  expect(await idsOf(96)).toEqual(expected);
  for (const limit of [1, 2, 3, 4, 5]) expect(await idsOf(limit)).toEqual(expected.slice(0, limit));
});

test('runs of deleted sessions are neither rows nor counted, and what they used is', {
  tags: ['§4.8-rule-7', 'G11'],
}, async () => {
  const house = await officeHouse();
  const who = await house.person('ann', await house.team('Red'));
  await house.work({ who });
  await house.delete(await house.work({ who }));
  await house.delete(await house.work({ who, goesOn: true }));
  const { runCounts, sessionCount, runs, recent, usage, teams } = await house.snapshot();
  expect([runs.length, recent.length, sessionCount]).toEqual([1, 1, 1]);
  expect(Object.values(runCounts).reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(usage).toEqual({ tokens: 3 * TOKENS, costUsd: expect.closeTo(3 * COST, 9) as number });
  expect(teams).toMatchObject([{ active: 3, tokens: 3 * TOKENS }]);
});

test('the house’s usage is that of its teams, of users without one, and of deleted teams', async () => {
  const house = await officeHouse();
  const [red, blue] = [await house.team('Red'), await house.team('Blue')];
  const gone = await house.person('ann', red);
  await house.work({ who: gone });
  await house.work({ who: await house.person('ben', blue), calls: 2 });
  await house.work({ who: await house.person('cid'), calls: 3 });
  await house.join(gone, null);
  await house.change('DELETE FROM budgets');
  await house.change('DELETE FROM teams WHERE id = ?', red);
  const { usage, teams, unassigned } = await house.snapshot();
  expect(usage.tokens).toBe(6 * TOKENS);
  expect(teams.map(({ name, tokens }) => [name, tokens])).toEqual([['Blue', 2 * TOKENS]]);
  expect(unassigned).toMatchObject({ tokens: 3 * TOKENS, active: 1 });
  expect(ledgerFaults(house.file)).toEqual([]);
});

test('the sessions that changed last are returned with their newest run, at most 24', { tags: ['G13'] }, async () => {
  const house = await officeHouse();
  const who = await house.person('ann', await house.team('Red'));
  const runs = [];
  for (let session = 0; session < 26; session += 1) {
    house.clock.jump(1_000);
    runs.push(await house.work({ who }));
  }
  house.clock.jump(86_400_000);
  const newest = await house.work({ who, in: runs[0]! });
  const { recent } = await house.snapshot();
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
