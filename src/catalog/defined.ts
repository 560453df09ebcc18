// The names that a configuration defines, for what holds them.
import type { Defined } from '../domain/capabilities/pin.ts';
import type { Definitions } from './definitions.ts';
import type { Catalog } from './kinds/models.ts';

/** The names of what can be pinned. */
export function definedBy(
  { models, scenarios }: Pick<Catalog, 'models' | 'scenarios'>,
  { experts, teams }: Pick<Definitions, 'experts' | 'teams'>,
): Defined {
  return {
    model: new Set(models.keys()),
    scenario: new Set(scenarios.keys()),
    expert: new Set(experts.keys()),
    team: new Set(teams.keys()),
  };
}
