// The verbs on users, teams, keys and budgets.
import { type BudgetParts, makeBudgetOperations } from './budgets.ts';
import { type KeyParts, makeKeyOperations } from './keys.ts';
import { type LeaveParts, makeLeaveOperations } from './leave.ts';
import { makePlanImport, type PlanImportParts } from './plan-import.ts';
import { makeTeamOperations, type TeamParts } from './teams.ts';
import { makeUserOperations, type UserOperationParts } from './users.ts';

export type PeopleParts = UserOperationParts & LeaveParts & PlanImportParts & TeamParts & BudgetParts & KeyParts;

export function makePeopleVerbs(parts: PeopleParts) {
  return {
    ...makeUserOperations(parts),
    ...makeLeaveOperations(parts),
    planImport: makePlanImport(parts),
    ...makeTeamOperations(parts),
    ...makeBudgetOperations(parts),
    ...makeKeyOperations(parts),
  };
}
