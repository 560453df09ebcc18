// The verbs on users and teams, and on what users have.
import type { BudgetKit } from '../budgets/budget-kit.ts';
import type { Database } from '../engine/database.ts';
import type { Planning } from '../webhooks/planning.ts';
import { makeConnections } from './connections.ts';
import { makeDefinitionIds } from './definition-ids.ts';
import { makeCreateFirstAdministrator } from './first-administrator.ts';
import { makeHoldings } from './holdings.ts';
import { makeApiKeys } from './keys.ts';
import { makeOfficeLogins } from './office-logins.ts';
import { makePins } from './pins.ts';
import { makeSigningKeys } from './signing-keys.ts';
import { makeTeams } from './teams.ts';
import { makeUsers } from './users.ts';

export function makePeopleVerbs(database: Database, planning: Planning, kit: BudgetKit) {
  return {
    createFirstAdministrator: makeCreateFirstAdministrator(database),
    users: makeUsers(database, planning),
    teams: makeTeams(database, kit),
    keys: makeApiKeys(database),
    holdings: makeHoldings(database),
    pins: makePins(database),
    signingKeys: makeSigningKeys(database),
    officeLogins: makeOfficeLogins(database),
    definitionIds: makeDefinitionIds(database),
    connections: makeConnections(database),
  };
}
