// Administration of teams.
import { unprocessable } from '../../domain/errors.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import { type Audit, itself } from '../audit/audit.ts';

export interface NewTeam {
  readonly name: string;
  readonly budgetUsd: number | null;
}

/** What to change: an absent field stays unchanged, null clears it. */
export interface TeamChange {
  readonly name?: string;
  readonly budgetUsd?: number | null;
}

const MAX_NAME_LENGTH = 64;

/**
 * The verbs on teams. Each throws `not_found` for an unknown reference (an id or a name), `conflict` for a name that is
 * taken.
 */
export function makeTeamOperations({ store, audit }: { store: Store; audit: Pick<Audit, 'change'> }) {
  return {
    listTeams: async (_caller: Administrator) => store.teams.list(),
    createTeam: async (caller: Administrator, input: NewTeam) => {
      check(input);
      return store.teams.create(input, audit.change(caller, 'team.create', itself));
    },
    changeTeam: async (caller: Administrator, reference: string, change: TeamChange) => {
      check(change);
      return store.teams.change(reference, change, audit.change(caller, 'team.change', itself));
    },
  };
}

function check({ name, budgetUsd }: TeamChange): void {
  if (name !== undefined && (name.trim() !== name || name === '' || name.length > MAX_NAME_LENGTH)) {
    throw unprocessable('name', `must be 1 to ${MAX_NAME_LENGTH} characters without blanks at its ends`);
  }
  if (typeof budgetUsd === 'number' && budgetUsd < 0) throw unprocessable('budget_amount_usd', 'must be 0 or more');
}
