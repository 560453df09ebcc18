// The one model name of a key, as programs list it (C13).
import type { Definitions } from '../../catalog/definitions.ts';
import type { Catalog } from '../../catalog/models.ts';
import type { KeyCaller } from '../../domain/user.ts';
import { modelOf } from '../../execution/queue/queue.ts';
import { leadModelOf } from './session-setup.ts';

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
