// Rules 2 to 7 of §4.8 as scenarios: the figures of each team, and its list of today, after some work.
import { expect, test } from 'vitest';
import type { RunSource } from '../../../src/domain/sessions/office.ts';
import { ledgerFaults } from '../../../src/selftest/checks/ledger-faults.ts';
import { officeHouse, type OfficeHouse } from '../../support/store/office-house.ts';

/** Sessions that count, sessions with rows, and rows. */
type Figures = readonly [total: number, itemTotal: number, rows: number];

interface Teams {
  readonly red: string;
  readonly blue: string;
}

interface Scenario {
  readonly play: (house: OfficeHouse, teams: Teams) => Promise<unknown>;
  readonly red?: Figures;
  readonly blue?: Figures;
  readonly unassigned?: Figures;
  /** Null: of any. */
  readonly source?: RunSource | null;
}

const NOTHING: Figures = [0, 0, 0];

type Scenarios = Readonly<Record<string, Scenario>>;

/** Whose usage it is. */
const RULE_2: Scenarios = {
  'the team of the record comes first: a user who changes teams leaves behind what was used': {
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
  'without either, the present team of the user counts': {
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
  'without all three it is unassigned': {
    play: async (house) => house.work({ who: await house.person('ann') }),
    unassigned: [1, 1, 1],
  },
  'a team that was deleted keeps what it used from all others': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.work({ who });
      await house.join(who, null);
      await house.change('DELETE FROM budgets');
      await house.change('DELETE FROM teams WHERE id = ?', red);
    },
    red: [1, 1, 1],
  },
  'what a disabled user used still counts': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.work({ who });
      await house.store.users.change('ann', { disabled: true });
    },
    red: [1, 1, 1],
  },
  'a session that two teams used counts for both': {
    play: async (house, { red, blue }) => {
      const who = await house.person('ann', red);
      const first = await house.work({ who });
      await house.join(who, blue);
      await house.work({ who, in: first });
      await house.join(who, null);
      await house.work({ who, in: first });
    },
    red: [1, 1, 1],
    blue: [1, 1, 1],
    unassigned: [1, 1, 1],
  },
};

/** What `total` counts, with and without a source. */
const RULE_3: Scenarios = {
  'a session counts once, however many runs and calls it has; each run is a row': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      const first = await house.work({ who, calls: 3 });
      await house.work({ who, in: first });
      await house.work({ who });
    },
    red: [2, 2, 3],
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
  'with a source, only its runs count and are shown': {
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
  'live unassigned runs count before they have used anything': {
    play: async (house) => {
      const who = await house.person('ann');
      await house.work({ who, calls: 0, goesOn: true });
      await house.accept(who);
    },
    unassigned: [2, 2, 2],
  },
  'a live unassigned run in a session with unassigned usage counts once, by its usage': {
    play: async (house) => {
      const who = await house.person('ann');
      const first = await house.work({ who });
      await house.work({ who, in: first, calls: 0, goesOn: true });
    },
    unassigned: [1, 1, 1],
  },
  'with a source, only usage of that source decides whether a live unassigned run already has some': {
    play: async (house) => {
      const who = await house.person('ann');
      const first = await house.work({ who, scheduled: true });
      await house.work({ who, in: first, calls: 0, goesOn: true });
    },
    source: 'normal_session',
    unassigned: [1, 1, 1],
  },
  'with a source, live unassigned runs of another source do not count': {
    play: async (house) => house.work({ who: await house.person('ann'), calls: 0, goesOn: true }),
    source: 'scheduled_task',
  },
  'a live run that was accepted for a team is not unassigned, also when its user has left the team': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.work({ who, calls: 0, goesOn: true });
      await house.join(who, null);
    },
  },
  'a live unassigned run counts also where only a team has used the session': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      const first = await house.work({ who });
      await house.join(who, null);
      await house.work({ who, in: first, calls: 0, goesOn: true });
    },
    red: [1, 1, 1],
    unassigned: [1, 1, 1],
  },
};

/** Which sessions have rows. */
const RULE_5: Scenarios = {
  'a run that has used nothing yet is no row of its team': {
    play: async (house, { red }) => house.work({ who: await house.person('ann', red), calls: 0, goesOn: true }),
  },
  'usage without a run counts, and has no row': {
    play: async (house, { red }) => {
      const who = await house.person('ann', red);
      await house.callWithoutRun(await house.work({ who, calls: 0 }));
      await house.callWithoutRun(await house.work({ who }));
    },
    red: [2, 1, 1],
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

/** Deleted sessions. */
const RULE_7: Scenarios = {
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
  'a deleted session of no team counts and is shown among the unassigned': {
    play: async (house) => house.delete(await house.work({ who: await house.person('ann') })),
    unassigned: [1, 1, 1],
  },
};

async function holds({ play: act, source = null, ...expected }: Scenario): Promise<void> {
  const house = await officeHouse();
  const teams = { red: await house.team('Red'), blue: await house.team('Blue') };
  await act(house, teams);
  const readToday = async (team: string | null): Promise<Figures> => {
    const { total, itemTotal, items } = await house.today({ team, source });
    return [total, itemTotal, items.length];
  };
  expect({
    red: await readToday(teams.red),
    blue: await readToday(teams.blue),
    unassigned: await readToday(null),
  }).toEqual({
    red: NOTHING,
    blue: NOTHING,
    unassigned: NOTHING,
    ...expected,
  });
  expect(ledgerFaults(house.file)).toEqual([]);
  if (source !== null) return;
  // Rule 3: the same figures as in the snapshot, for teams that are there.
  const { teams: days, unassigned: rest } = await house.snapshot();
  for (const { id, active } of days) expect(active).toBe((await house.today({ team: id })).total);
  expect(rest?.active ?? 0).toBe((await house.today()).total);
}

test.each(Object.entries(RULE_2))('rule 2: %s', { tags: ['§4.8-rule-2'] }, (_, scenario) => holds(scenario));

test.each(Object.entries(RULE_3))('rule 3: %s', { tags: ['§4.8-rule-3'] }, (_, scenario) => holds(scenario));

test.each(Object.entries(RULE_5))('rule 5: %s', { tags: ['§4.8-rule-5'] }, (_, scenario) => holds(scenario));

test.each(Object.entries(RULE_7))('rule 7: %s', { tags: ['§4.8-rule-7'] }, (_, scenario) => holds(scenario));
