// Rules 2 to 8 of §4.8, as scenarios: what a team's figures and its list of today say after some work.
import { expect, test } from 'vitest';
import type { RunSource } from '../../../src/domain/sessions/office.ts';
import { ledgerFaults } from '../../support/store/ledger-faults.ts';
import { COST, officeHouse, type OfficeHouse, TOKENS } from '../../support/store/office-house.ts';

/** What a team is told: sessions in all, sessions with rows, and how many rows. */
type Figures = readonly [total: number, itemTotal: number, rows: number];

interface Teams {
  readonly red: string;
  readonly blue: string;
}

interface Scenario {
  readonly play: (house: OfficeHouse, teams: Teams) => Promise<unknown>;
  readonly red?: Figures;
  readonly blue?: Figures;
  readonly nobody?: Figures;
  readonly source?: RunSource;
}

const NOTHING: Figures = [0, 0, 0];

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'sessions count once, however many runs and calls they have; each run is a row': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      const first = await house.work({ who, calls: 3 });
      await house.work({ who, in: first });
      await house.work({ who });
    },
    red: [2, 2, 3],
  },
  'a run that has used nothing yet is nobody’s row in a team': {
    play: async (house, { red }) => house.work({ who: await house.person('ann', red), calls: 0, goesOn: true }),
  },
  'the team of the record comes first: who changes teams leaves behind what was used': {
    play: async (house, { red, blue }) => {
      const who = await house.person('ann', red);
      const first = await house.work({ who });
      await house.join(who, blue);
      await house.work({ who, in: first });
    },
    red: [1, 1, 1],
    blue: [1, 1, 1],
  },
  'without a team of the record, the team of the run counts': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      const run = await house.work({ who, calls: 0, goesOn: true });
      await house.join(who, null);
      await house.callOf(run);
    },
    red: [1, 1, 1],
  },
  'without either, the team counts that the user is in now': {
    play: async (house, { blue }) => {
      const who = await house.person('ann');
      await house.work({ who });
      await house.join(who, blue);
    },
    blue: [1, 1, 1],
  },
  'what was used before and after a first team was joined is one session of it': {
    play: async (house, { blue }) => {
      const who = await house.person('ann');
      const first = await house.work({ who });
      await house.join(who, blue);
      await house.work({ who, in: first });
    },
    blue: [1, 1, 2],
  },
  'without all three it is nobody’s': {
    play: async (house) => house.work({ who: await house.person('ann') }),
    nobody: [1, 1, 1],
  },
  'a team that is gone keeps what it used from everybody else': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.work({ who });
      await house.join(who, null);
      await house.change('DELETE FROM teams WHERE id = ?', red);
    },
    red: [1, 1, 1],
  },
  'a user who was disabled counts on': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.work({ who });
      await house.store.users.change('ann', { disabled: true });
    },
    red: [1, 1, 1],
  },
  'usage without a run counts, and has no row': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.callWithoutRun(await house.work({ who, calls: 0 }));
      await house.callWithoutRun(await house.work({ who }));
    },
    red: [2, 1, 1],
  },
  'usage without a run is of no source': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.callWithoutRun(await house.work({ who, calls: 0 }));
      await house.work({ who });
    },
    source: 'normal_session',
    red: [1, 1, 1],
  },
  'of a source, only its runs count and are shown': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      const mixed = await house.work({ who, scheduled: true });
      await house.work({ who, in: mixed });
      await house.work({ who });
    },
    source: 'scheduled_task',
    red: [1, 1, 1],
  },
  'a session of both sources is one without a source': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      const mixed = await house.work({ who, scheduled: true });
      await house.work({ who, in: mixed });
    },
    red: [1, 1, 2],
  },
  'live runs of nobody count before they have used anything': {
    play: async (house) => {
      const who = await house.person('ann');
      await house.work({ who, calls: 0, goesOn: true });
      await house.accept(who);
    },
    nobody: [2, 2, 2],
  },
  'a live run of nobody whose session has used something counts once, by what it used': {
    play: async (house) => {
      const who = await house.person('ann');
      const first = await house.work({ who });
      await house.work({ who, in: first, calls: 0, goesOn: true });
    },
    nobody: [1, 1, 1],
  },
  'only usage of the same source tells that a live run of nobody has some': {
    play: async (house) => {
      const who = await house.person('ann');
      const first = await house.work({ who, scheduled: true });
      await house.work({ who, in: first, calls: 0, goesOn: true });
    },
    source: 'normal_session',
    nobody: [1, 1, 1],
  },
  'a live run of another source is not looked for': {
    play: async (house) => house.work({ who: await house.person('ann'), calls: 0, goesOn: true }),
    source: 'scheduled_task',
  },
  'a live run that was accepted for a team is not nobody’s, whoever left': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.work({ who, calls: 0, goesOn: true });
      await house.join(who, null);
    },
  },
  'deleted sessions with usage count and are shown': {
    play: async (house, { red }) => {
      const run = await house.work({ who: await house.person('ann', red) });
      await house.delete(run);
    },
    red: [1, 1, 1],
  },
  'a deleted session that used something without a run counts, and has no row': {
    play: async (house, { red }) => {
      const run = await house.work({ who: await house.person('ann', red), calls: 0 });
      await house.callWithoutRun(run);
      await house.delete(run);
    },
    red: [1, 0, 0],
  },
  'what was used yesterday is not of today': {
    play: async (house, { red }) => {
      await house.work({ who: await house.person('ann', red) });
      house.clock.jump(86_400_000);
    },
  },
  'a session of yesterday that is used today shows the run of today': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      const first = await house.work({ who });
      house.clock.jump(86_400_000);
      await house.work({ who, in: first });
    },
    red: [1, 1, 1],
  },
};

test.each(Object.entries(SCENARIOS))('today: %s', async (_, { play, source = null, ...expected }) => {
  const house = await officeHouse();
  const teams = { red: await house.team('Red'), blue: await house.team('Blue') };
  await play(house, teams);
  const readToday = async (team: string | null): Promise<Figures> => {
    const { total, itemTotal, items } = await house.today({ team, source });
    return [total, itemTotal, items.length];
  };
  expect({ red: await readToday(teams.red), blue: await readToday(teams.blue), nobody: await readToday(null) }).toEqual(
    {
      red: NOTHING,
      blue: NOTHING,
      nobody: NOTHING,
      ...expected,
    },
  );
  expect(ledgerFaults(house.file)).toEqual([]);
  if (source !== null) return;
  // Rule 3: the same figures as in the snapshot, for teams that are there.
  const { teams: days, unassigned } = await house.snapshot();
  for (const { id, active } of days) expect(active).toBe((await house.today({ team: id })).total);
  expect(unassigned?.active ?? 0).toBe((await house.today()).total);
});

test('a row has what its session used today, for whichever team, and nothing of yesterday (rule 8)', async () => {
  const house = await officeHouse();
  const [red, blue] = [await house.team('Red'), await house.team('Blue')];
  const who = await house.person('ann', red);
  const first = await house.work({ who, calls: 5 });
  house.clock.jump(86_400_000);
  await house.work({ who, in: first, calls: 2 });
  await house.join(who, blue);
  await house.work({ who, in: first });
  const { items } = await house.today({ team: red });
  expect(items.map(({ usage }) => usage)).toEqual([
    { tokens: 3 * TOKENS, costUsd: expect.closeTo(3 * COST, 9) as number },
  ]);
  const { teams } = await house.snapshot();
  expect(teams.map(({ name, tokens }) => [name, tokens])).toEqual([
    ['Blue', TOKENS],
    ['Red', 2 * TOKENS],
  ]);
});

test('live runs of nobody come before those that have used something (rule 6); pages are of sessions', async () => {
  const house = await officeHouse();
  const who = await house.person('ann');
  const used = [await house.work({ who }), await house.work({ who })];
  const twice = used[0]!;
  await house.work({ who, in: twice });
  const live = await house.work({ who, calls: 0, goesOn: true });
  const sessionsOf = async (offset: number) => {
    const { items, total, itemTotal } = await house.today({ limit: 2, offset });
    expect([total, itemTotal]).toEqual([3, 3]);
    return items.map(({ run }) => run.sessionId);
  };
  expect(await sessionsOf(0)).toEqual([live.sessionId, used[1]!.sessionId]);
  expect(await sessionsOf(2)).toEqual([twice.sessionId, twice.sessionId]);
  expect(await sessionsOf(4)).toEqual([]);
});

test('sessions that were used last come first', async () => {
  const house = await officeHouse();
  const red = await house.team('Red');
  const who = await house.person('ann', red);
  const runs = [await house.work({ who }), await house.work({ who }), await house.work({ who })];
  house.clock.jump(900_000);
  await house.work({ who, in: runs[0]! });
  const { items } = await house.today({ team: red });
  const order = [0, 0, 2, 1].map((index) => runs[index]!.sessionId);
  expect(items.map(({ run }) => run.sessionId)).toEqual(order);
});

test('a deleted session is marked, and its title is gone with it', async () => {
  const house = await officeHouse();
  const red = await house.team('Red');
  const run = await house.work({ who: await house.person('ann', red) });
  await house.delete(run);
  while (await house.store.erasures.eraseSession(run.sessionSeq));
  const { items } = await house.today({ team: red });
  expect(items).toMatchObject([{ isDeleted: true, source: 'normal_session', run: { id: run.id, sessionTitle: '' } }]);
});

test('the day turns during a run: each day has what was used in it, in every zone', async () => {
  const house = await officeHouse('2026-03-10T15:50:00Z');
  const red = await house.team('Red');
  const run = await house.work({ who: await house.person('ann', red), goesOn: true });
  house.clock.jump(20 * 60_000);
  await house.callOf(run);
  const tokensIn = async (zone: string) => {
    const { usage: day, teams } = await house.snapshot(zone);
    const { items } = await house.today({ team: red }, zone);
    expect([teams[0]!.tokens, items[0]!.usage.tokens]).toEqual([day.tokens, day.tokens]);
    return day.tokens;
  };
  // In Shanghai it is ten past midnight, in Kathmandu 21:55, in Berlin ten past five.
  expect(await tokensIn('Asia/Shanghai')).toBe(TOKENS);
  expect(await tokensIn('Asia/Kathmandu')).toBe(2 * TOKENS);
  expect(await tokensIn('Europe/Berlin')).toBe(2 * TOKENS);
});
