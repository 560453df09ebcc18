// The verbs on definitions, connections, and checks of both.
import { type CheckOperationParts, makeCheckOperations } from './checks.ts';
import { type ConnectionParts, makeConnectionOperations } from './connections.ts';
import { type DefinitionParts, makeDefinitionOperations } from './definitions.ts';

export type CapabilityParts = DefinitionParts & ConnectionParts & Omit<CheckOperationParts, 'getDefinition'>;

export function makeCapabilityVerbs(parts: CapabilityParts) {
  const definitions = makeDefinitionOperations(parts);
  return {
    ...definitions,
    ...makeCheckOperations({ ...parts, getDefinition: definitions.getDefinition }),
    ...makeConnectionOperations(parts),
  };
}
