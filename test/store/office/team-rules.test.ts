// Rules 2 to 7 of §4.8 as scenarios: the figures of each team, and its list of today, after some work.
import { expect, test } from 'vitest';
import type { RunSource } from '../../../src/domain/sessions/office.ts';
import { ledgerFaultsOf } from '../../support/store/open-store.ts';
import { officeFixture, type OfficeFixture } from '../../support/store/office-fixture.ts';

/** Sessions that count, sessions with rows, and rows. */
type Figures = readonly [total: number, itemTotal: number, rows: number];

interface Teams {
  readonly red: string;
  readonly blue: string;
}

interface Scenario {
  readonly play: (fixture: OfficeFixture, teams: Teams) => Promise<unknown>;
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
    play: async (fixture, { red, blue }) => {
      const who = await fixture.person('ann', red);
      const first = await fixture.work({ who });
      await fixture.join(who, blue);
      await fixture.work({ who, in: first });
    },
    red: [1, 1, 1],
    blue: [1, 1, 1],
  },
  'without a team of the record, the team of the run counts': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      const run = await fixture.work({ who, calls: 0, goesOn: true });
      await fixture.join(who, null);
      await fixture.callOf(run);
    },
    red: [1, 1, 1],
  },
  'without either, the present team of the user counts': {
    play: async (fixture, { blue }) => {
      const who = await fixture.person('ann');
      await fixture.work({ who });
      await fixture.join(who, blue);
    },
    blue: [1, 1, 1],
  },
  'what was used before and after a first team was joined is one session of it': {
    play: async (fixture, { blue }) => {
      const who = await fixture.person('ann');
      const first = await fixture.work({ who });
      await fixture.join(who, blue);
      await fixture.work({ who, in: first });
    },
    blue: [1, 1, 2],
  },
  'without all three it is unassigned': {
    play: async (fixture) => fixture.work({ who: await fixture.person('ann') }),
    unassigned: [1, 1, 1],
  },
  'a team that was deleted keeps what it used from all others': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      await fixture.work({ who });
      await fixture.join(who, null);
      await fixture.change('DELETE FROM budgets');
      await fixture.change('DELETE FROM teams WHERE id = ?', red);
    },
    red: [1, 1, 1],
  },
  'what a disabled user used still counts': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      await fixture.work({ who });
      await fixture.store.users.change('ann', { disabled: true });
    },
    red: [1, 1, 1],
  },
  'a session that two teams used counts for both': {
    play: async (fixture, { red, blue }) => {
      const who = await fixture.person('ann', red);
      const first = await fixture.work({ who });
      await fixture.join(who, blue);
      await fixture.work({ who, in: first });
      await fixture.join(who, null);
      await fixture.work({ who, in: first });
    },
    red: [1, 1, 1],
    blue: [1, 1, 1],
    unassigned: [1, 1, 1],
  },
};

/** What `total` counts, with and without a source. */
const RULE_3: Scenarios = {
  'a session counts once, however many runs and calls it has; each run is a row': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      const first = await fixture.work({ who, calls: 3 });
      await fixture.work({ who, in: first });
      await fixture.work({ who });
    },
    red: [2, 2, 3],
  },
  'usage without a run is of no source': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      await fixture.callWithoutRun(await fixture.work({ who, calls: 0 }));
      await fixture.work({ who });
    },
    source: 'normal_session',
    red: [1, 1, 1],
  },
  'with a source, only its runs count and are shown': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      const mixed = await fixture.work({ who, scheduled: true });
      await fixture.work({ who, in: mixed });
      await fixture.work({ who });
    },
    source: 'scheduled_task',
    red: [1, 1, 1],
  },
  'a session of both sources is one without a source': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      const mixed = await fixture.work({ who, scheduled: true });
      await fixture.work({ who, in: mixed });
    },
    red: [1, 1, 2],
  },
  'live unassigned runs count before they have used anything': {
    play: async (fixture) => {
      const who = await fixture.person('ann');
      await fixture.work({ who, calls: 0, goesOn: true });
      await fixture.accept(who);
    },
    unassigned: [2, 2, 2],
  },
  'a live unassigned run in a session with unassigned usage counts once, by its usage': {
    play: async (fixture) => {
      const who = await fixture.person('ann');
      const first = await fixture.work({ who });
      await fixture.work({ who, in: first, calls: 0, goesOn: true });
    },
    unassigned: [1, 1, 1],
  },
  'with a source, only usage of that source decides whether a live unassigned run already has some': {
    play: async (fixture) => {
      const who = await fixture.person('ann');
      const first = await fixture.work({ who, scheduled: true });
      await fixture.work({ who, in: first, calls: 0, goesOn: true });
    },
    source: 'normal_session',
    unassigned: [1, 1, 1],
  },
  'with a source, live unassigned runs of another source do not count': {
    play: async (fixture) => fixture.work({ who: await fixture.person('ann'), calls: 0, goesOn: true }),
    source: 'scheduled_task',
  },
  'a live run that was accepted for a team is not unassigned, also when its user has left the team': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      await fixture.work({ who, calls: 0, goesOn: true });
      await fixture.join(who, null);
    },
  },
  'a live unassigned run counts also where only a team has used the session': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      const first = await fixture.work({ who });
      await fixture.join(who, null);
      await fixture.work({ who, in: first, calls: 0, goesOn: true });
    },
    red: [1, 1, 1],
    unassigned: [1, 1, 1],
  },
};

/** Which sessions have rows. */
const RULE_5: Scenarios = {
  'a run that has used nothing yet is no row of its team': {
    play: async (fixture, { red }) => fixture.work({ who: await fixture.person('ann', red), calls: 0, goesOn: true }),
  },
  'usage without a run counts, and has no row': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      await fixture.callWithoutRun(await fixture.work({ who, calls: 0 }));
      await fixture.callWithoutRun(await fixture.work({ who }));
    },
    red: [2, 1, 1],
  },
  'what was used yesterday is not of today': {
    play: async (fixture, { red }) => {
      await fixture.work({ who: await fixture.person('ann', red) });
      fixture.clock.jump(86_400_000);
    },
  },
  'a session of yesterday that is used today shows the run of today': {
    play: async (fixture, { red }) => {
      const who = await fixture.person('ann', red);
      const first = await fixture.work({ who });
      fixture.clock.jump(86_400_000);
      await fixture.work({ who, in: first });
    },
    red: [1, 1, 1],
  },
};

/** Deleted sessions. */
const RULE_7: Scenarios = {
  'deleted sessions with usage count and are shown': {
    play: async (fixture, { red }) => {
      const run = await fixture.work({ who: await fixture.person('ann', red) });
      await fixture.delete(run);
    },
    red: [1, 1, 1],
  },
  'a deleted session that used something without a run counts, and has no row': {
    play: async (fixture, { red }) => {
      const run = await fixture.work({ who: await fixture.person('ann', red), calls: 0 });
      await fixture.callWithoutRun(run);
      await fixture.delete(run);
    },
    red: [1, 0, 0],
  },
  'a deleted session of no team counts and is shown among the unassigned': {
    play: async (fixture) => fixture.delete(await fixture.work({ who: await fixture.person('ann') })),
    unassigned: [1, 1, 1],
  },
};

async function holds({ play: act, source = null, ...expected }: Scenario): Promise<void> {
  const fixture = await officeFixture();
  const teams = { red: await fixture.team('Red'), blue: await fixture.team('Blue') };
  await act(fixture, teams);
  const readToday = async (team: string | null): Promise<Figures> => {
    const { total, itemTotal, items } = await fixture.today({ team, source });
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
  expect(ledgerFaultsOf(fixture.file)).toEqual([]);
  if (source !== null) return;
  // Rule 3: the same figures as in the snapshot, for teams that are there.
  const { teams: days, unassigned: rest } = await fixture.snapshot();
  for (const { id, active } of days) expect(active).toBe((await fixture.today({ team: id })).total);
  expect(rest?.active ?? 0).toBe((await fixture.today()).total);
}

test.each(Object.entries(RULE_2))('rule 2: %s', { tags: ['§4.8-rule-2'] }, (_, scenario) => holds(scenario));

test.each(Object.entries(RULE_3))('rule 3: %s', { tags: ['§4.8-rule-3'] }, (_, scenario) => holds(scenario));

test.each(Object.entries(RULE_5))('rule 5: %s', { tags: ['§4.8-rule-5'] }, (_, scenario) => holds(scenario));

test.each(Object.entries(RULE_7))('rule 7: %s', { tags: ['§4.8-rule-7'] }, (_, scenario) => holds(scenario));
