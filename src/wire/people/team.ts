// Teams of people, with their budgets.
import { TEAM_NAME } from '../../domain/people/names.ts';
import { object } from '../composites.ts';
import { matching, number, string, time, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, type Static } from '../shape.ts';

export const team = named(
  'Team',
  object({
    id: uuid,
    name: string,
    budget_amount_usd: nullable(number({ from: 0 })),
    created_at: time,
    updated_at: time,
  }),
);
export type TeamWire = Static<typeof team>;

const name = matching(TEAM_NAME, 'must be 1 to 64 characters without blanks at its ends');
const budget = nullish(number({ from: 0 }));

export const newTeam = named('NewTeam', object({ name, budget_amount_usd: budget }));
export type NewTeamWire = Static<typeof newTeam>;

/** What is absent stays; a null budget means none. */
export const teamChange = named(
  'TeamChange',
  object({ name: optional(name), budget_amount_usd: budget }, { atLeastOne: true }),
);
export type TeamChangeWire = Static<typeof teamChange>;
