// The input schema of an MCP server's tool: what models are shown, and how arguments are checked. Servers are not trusted.
import { createHash } from 'node:crypto';
import { Ajv } from 'ajv';
import { KB } from '../../domain/byte-units.ts';
import { inDraft07 } from '../../domain/schema/draft-07.ts';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { isKeyword, listSchemas, mapSchemas } from '../../domain/schema/json-schema.ts';
import { withinCpuTime } from '../../threads/cpu-time.ts';
import { compilePattern } from '../result/linear-pattern.ts';
import { compileResultCheck, type ResultCheck } from '../result/result-schema.ts';

const MAX_BYTES = 64 * KB;
const MAX_DEPTH = 64;
const MAX_SCHEMAS = 2_000;
/** CPU time: much more than an honest schema takes; the thread has other runs. */
const COMPILE_CPU_MS = 500;
const MAX_KNOWN = 256;

export type ToolSchema =
  | { readonly ok: true; readonly modelSchema: JsonObject; readonly check: ResultCheck }
  | { readonly ok: false; readonly why: string };

/** Only validates schemas; it retains none of them. */
const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
/** Compiled checks of this thread by the schema's hash, the oldest first. */
const compiled = new Map<string, ResultCheck>();

/**
 * Reads a schema. Returns in words what makes it unusable: it could block the thread, or a model server would refuse it. It is
 * compiled when its tool is first called. External references are not followed.
 */
export function readToolSchema(value: JsonValue | undefined): ToolSchema {
  if (!isJsonObject(value) || value['type'] !== 'object') return { ok: false, why: 'its type is not object' };
  const text = isDeeperThan(value, MAX_DEPTH) ? null : JSON.stringify(value);
  if (text === null) return { ok: false, why: `it nests deeper than ${MAX_DEPTH} levels` };
  if (Buffer.byteLength(text) > MAX_BYTES) return { ok: false, why: `it is larger than ${MAX_BYTES / KB} KB` };
  if (text.includes('"__proto__":')) return { ok: false, why: 'it uses "__proto__" as a name' };
  const { $schema: _dialect, $id: _id, $comment: _comment, ...modelSchema } = value;
  const schema = mapSchemas(modelSchema, inKnownWords);
  const why = faultOf(schema);
  if (why !== undefined) return { ok: false, why };
  const check: ResultCheck = (input) => {
    try {
      return checkOf(schema)(input);
    } catch {
      return ['the schema itself cannot be used'];
    }
  };
  return { ok: true, modelSchema, check };
}

/**
 * Converts newer drafts and OpenAPI to Draft-07. What Draft-07 can't express is left to the server, and the validator's own
 * keywords are disabled: one of them would turn its results into promises.
 */
function inKnownWords(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(inDraft07(schema)).filter(([name]) => isKeyword(name)));
}

const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

function faultOf(schema: JsonObject): string | undefined {
  const inner = listSchemas(schema);
  if (inner.length > MAX_SCHEMAS) return `it contains more than ${MAX_SCHEMAS} schemas`;
  if (ajv.validateSchema(schema) !== true) return 'it is not a valid JSON Schema';
  for (const { schema: one } of inner) {
    const ref = one['$ref'];
    if (typeof ref === 'string' && !leadsInto(schema, ref)) return 'it has a reference that does not resolve';
    const patterns = [one['pattern'], ...Object.keys(objectOf(one['patternProperties']))];
    if (patterns.some((pattern) => typeof pattern === 'string' && !isLinear(pattern)))
      return 'it has a pattern that cannot be matched in linear time';
  }
  return undefined;
}

function leadsInto(schema: JsonObject, ref: string): boolean {
  if (ref === '#') return true;
  if (!ref.startsWith('#/')) return false;
  let at: JsonValue | undefined = schema;
  for (const step of ref.slice(2).split('/')) {
    const name = unescaped(step);
    if (name === undefined || typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Record<string, JsonValue>)[name];
  }
  return isJsonObject(at) || typeof at === 'boolean';
}

function unescaped(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

function isLinear(pattern: string): boolean {
  try {
    compilePattern(pattern);
    return true;
  } catch {
    return false;
  }
}

function checkOf(schema: JsonObject): ResultCheck {
  const name = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const fresh = withinCpuTime(COMPILE_CPU_MS, () => compileResultCheck(schema, ''));
  if (compiled.size >= MAX_KNOWN) compiled.delete(compiled.keys().next().value!);
  compiled.set(name, fresh);
  return fresh;
}
