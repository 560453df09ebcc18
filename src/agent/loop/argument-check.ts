// Checks the arguments of calls against the schemas of the built-in tools.
import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonObject } from '../../domain/json.ts';
import type { Tool } from '../tools/tool.ts';

const MAX_FAULTS = 10;

/** Returns the violations of a tool's schema, in words for the model; none when the input fits. */
export type ArgumentCheck = (tool: Tool, input: JsonObject) => readonly string[];

/**
 * Makes the check of one run. Each schema is compiled with its first call and belongs to the run: a validator keeps all that
 * it has compiled, and some tools make their schema for the run.
 */
export function makeArgumentCheck(): ArgumentCheck {
  // The schemas are our own: to validate them against the meta-schema, it would have to be compiled in each run.
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, validateSchema: false, meta: false });
  return (tool, input) => {
    if (tool.check !== undefined) return tool.check(input);
    const validate = ajv.compile(tool.inputSchema);
    return validate(input) ? [] : faultsOf(validate);
  };
}

function faultsOf({ errors }: ValidateFunction): readonly string[] {
  return (errors ?? []).slice(0, MAX_FAULTS).map((fault) => {
    const extra = (fault.params as { additionalProperty?: string }).additionalProperty;
    return `${fault.instancePath || '/'} ${fault.message ?? 'does not fit'}${extra === undefined ? '' : ` (${extra})`}`;
  });
}
