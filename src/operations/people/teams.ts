// Administration of teams.
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

/**
 * The verbs on teams. Each throws `not_found` for an unknown reference (an id or a name), `conflict` for a name that is
 * taken.
 */
export interface TeamParts {
  readonly store: Pick<Store, 'teams'>;
  readonly audit: Pick<Audit, 'change'>;
}

export function makeTeamOperations({ store, audit }: TeamParts) {
  return {
    listTeams: async (_caller: Administrator) => store.teams.list(),
    createTeam: async (caller: Administrator, input: NewTeam) =>
      store.teams.create(input, audit.change(caller, 'team.create', itself)),
    changeTeam: async (caller: Administrator, reference: string, change: TeamChange) =>
      store.teams.change(reference, change, audit.change(caller, 'team.change', itself)),
  };
}
