// Teams of people, with their budgets.
import { TEAM_NAME } from '../../domain/people/names.ts';
import { endpoints, pathText } from '../endpoint.ts';
import { listOf } from '../listing.ts';
import { called, record, request } from '../shapes/record.ts';
import { matching, number, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, optional, orElse, refersTo } from '../shapes/shape.ts';

const budget = nullable(number({ from: 0 }));

const team = named(
  'Team',
  record({
    id: uuid,
    name: string,
    budgetUsd: called('budget_amount_usd', budget),
    createdAt: time,
    updatedAt: time,
  }),
);
export type TeamWire = JsonOf<typeof team>;

const name = matching(TEAM_NAME, 'must be 1 to 64 characters without blanks at its ends');

const newTeam = named('NewTeam', request({ name, budgetUsd: called('budget_amount_usd', orElse(budget, null)) }));

/** What is absent stays; a null budget means none. */
const teamChange = named(
  'TeamChange',
  request({ name: optional(name), budgetUsd: called('budget_amount_usd', optional(budget)) }, { atLeastOne: true }),
);
export type TeamChangeWire = JsonOf<typeof teamChange>;

/** Teams, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const teams = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/teams', summary: 'List teams', operation: 'listTeams', reply: listOf(team) },
  create: { route: 'POST /api/v1/teams', summary: 'Create a team', operation: 'createTeam', body: newTeam, reply: team, statuses: [201] },
  change: { route: 'PATCH /api/v1/teams/:ref', summary: 'Change a team', operation: 'changeTeam', params: { ref: refersTo('teams', pathText) }, body: teamChange, reply: team },
});
