// The input schema of an MCP server's tool: what models are shown, and how arguments are checked. Servers are not trusted.
import { createHash } from 'node:crypto';
import { Ajv } from 'ajv';
import { KB } from '../../domain/byte-units.ts';
import { inDraft07 } from '../../domain/schema/draft-07.ts';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { findReferenced } from '../../domain/schema/json-pointer.ts';
import { isKeyword, listSchemas, mapSchemas } from '../../domain/schema/json-schema.ts';
import { pointerInDraft07 } from '../../domain/schema/pointers.ts';
import { withinCpuTime } from '../../workers/cpu-time.ts';
import { isLinearPattern } from '../result/linear-pattern.ts';
import { compileResultCheck, type ResultCheck } from '../result/result-schema.ts';
import { mendSchema } from './mend-schema.ts';
import { withObjectRoot } from './object-root.ts';
import { withReferences } from './references.ts';

const MAX_BYTES = 64 * KB;
const MAX_DEPTH = 64;
const MAX_SCHEMAS = 2_000;
/** CPU time: much more than an honest schema takes; the thread has other runs. */
const COMPILE_CPU_MS = 500;
const MAX_KNOWN = 256;

const NO_OBJECT = 'its type is not object';
const TOO_LARGE = `it is larger than ${MAX_BYTES / KB} KB`;

export type ToolSchema =
  | { readonly ok: true; readonly modelSchema: JsonObject; readonly check: ResultCheck }
  | { readonly ok: false; readonly why: string };

/** Only validates schemas; it retains none of them. */
const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
/** Compiled checks of this thread by the schema's hash, the oldest first. */
const compiled = new Map<string, ResultCheck>();

/**
 * Reads a schema, and mends it (0011). Returns in words what makes it unusable: it could block the thread, or a model server would
 * refuse it. It is compiled when its tool is first called. External references are not followed. What `modelSchema` has no words for,
 * such as alternatives at the root, is checked all the same.
 */
export function readToolSchema(value: JsonValue | undefined): ToolSchema {
  // A tool without parameters has none in many libraries.
  const given = value ?? {};
  const text = isDeeperThan(given, MAX_DEPTH) ? null : JSON.stringify(given);
  if (text === null) return { ok: false, why: `it nests deeper than ${MAX_DEPTH} levels` };
  if (Buffer.byteLength(text) > MAX_BYTES) return { ok: false, why: TOO_LARGE };
  if (text.includes('"__proto__":')) return { ok: false, why: 'it uses "__proto__" as a name' };
  if (!isJsonObject(given)) return { ok: false, why: NO_OBJECT };
  const { $schema: _dialect, $id: _id, $comment: _comment, ...own } = given;
  const mended = mendSchema(own, (ref) => (findReferenced(own, ref) === undefined ? undefined : ref));
  const object = withObjectRoot(mended);
  if (object === null) return { ok: false, why: NO_OBJECT };
  // Alternatives are written out.
  const modelSchema = withReferences(object, own, MAX_BYTES);
  if (modelSchema === null) return { ok: false, why: TOO_LARGE };
  const schema = mapSchemas({ ...mended, type: 'object' }, (one) => inKnownWords(withMovedReference(own, one)));
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

/** A reference into what the words of Draft-07 have elsewhere. */
function withMovedReference(own: JsonObject, schema: JsonObject): JsonObject {
  const { $ref } = schema;
  return typeof $ref === 'string' ? { ...schema, $ref: `#${pointerInDraft07(own, $ref.slice(1))}` } : schema;
}

const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

function faultOf(schema: JsonObject): string | undefined {
  const inner = listSchemas(schema);
  if (inner.length > MAX_SCHEMAS) return `it contains more than ${MAX_SCHEMAS} schemas`;
  if (ajv.validateSchema(schema) !== true) return 'it is not a valid JSON Schema';
  for (const { schema: one } of inner) {
    const ref = one['$ref'];
    if (typeof ref === 'string' && findReferenced(schema, ref) === undefined)
      return 'it has a reference that does not resolve';
    const patterns = [one['pattern'], ...Object.keys(objectOf(one['patternProperties']))];
    if (patterns.some((pattern) => typeof pattern === 'string' && !isLinearPattern(pattern)))
      return 'it has a pattern that cannot be matched in linear time';
  }
  return undefined;
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
