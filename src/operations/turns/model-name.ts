// The one model name of a key, as programs list it (C13).
import type { Definitions } from '../../catalog/definitions.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import { parseTarget } from '../../domain/capabilities/target.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import { modelOf } from '../../execution/queue/queue.ts';

export interface ModelNameParts {
  catalog(): Catalog;
  definitions(): Definitions;
}

/** Makes the verb. */
export function makeGetModelName(parts: ModelNameParts) {
  return ({ key: { model: keyModel, target }, user: { scenario } }: KeyCaller): string => {
    const sources = { catalog: parts.catalog(), definitions: parts.definitions() };
    const leadModel = leadModelOf(target, sources.definitions);
    return modelOf(sources, { keyModel, scenario, target, leadModel }) ?? 'errand';
  };
}

/**
 * The model of the expert that currently leads a team; null when the target isn't a team, or its lead has no model of its
 * own.
 */
function leadModelOf(target: string, { experts, teams }: Definitions): string | null {
  const parsed = parseTarget(target);
  const team = parsed?.kind === 'team' ? teams.get(parsed.name) : undefined;
  return (team === undefined ? undefined : experts.get(team.lead)?.model) ?? null;
}
