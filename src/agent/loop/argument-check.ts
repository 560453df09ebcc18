// Checks the arguments of calls against the schemas of the built-in tools.
import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonObject } from '../../domain/json.ts';
import type { Tool } from '../port/tool.ts';

const MAX_FAULTS = 10;

/** Returns the violations of a tool's schema, in words for the model; none when the input fits. */
export type ArgumentCheck = (tool: Tool, input: JsonObject) => readonly string[];

/** Schemas that are kept compiled; some tools make theirs for a run, mostly the same one again. */
const MAX_KEPT = 64;

/**
 * Makes the check of a thread. A schema is compiled with its first call and kept by its text, the least recently used of too
 * many is dropped: a run that calls no tool pays nothing, and runs leave nothing behind.
 */
export function makeArgumentCheck(): ArgumentCheck {
  const kept = new Map<string, ValidateFunction>();

  function validatorOf(schema: JsonObject): ValidateFunction {
    const text = JSON.stringify(schema);
    const validate = kept.get(text) ?? compile(schema);
    kept.delete(text);
    kept.set(text, validate);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
    return validate;
  }

  return (tool, input) => {
    if (tool.check !== undefined) return tool.check(input);
    const validate = validatorOf(tool.inputSchema);
    return validate(input) ? [] : faultsOf(validate);
  };
}

/** By a validator of its own, as each keeps all that it has compiled. */
function compile(schema: JsonObject): ValidateFunction {
  // The schemas are our own: to validate them against the meta-schema, it would have to be compiled as well.
  const options = { strict: false, allErrors: true, validateFormats: false, validateSchema: false, meta: false };
  return new Ajv(options).compile(schema);
}

function faultsOf({ errors }: ValidateFunction): readonly string[] {
  return (errors ?? []).slice(0, MAX_FAULTS).map((fault) => {
    const extra = (fault.params as { additionalProperty?: string }).additionalProperty;
    return `${fault.instancePath || '/'} ${fault.message ?? 'does not fit'}${extra === undefined ? '' : ` (${extra})`}`;
  });
}
