// The root of a tool's input schema as model servers take it: an object with its properties, and no alternatives beside them.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { findReferenced } from '../../domain/schema/json-pointer.ts';

/** How many alternatives of a root are read, those within alternatives included. */
const MAX_ALTERNATIVES = 200;
/** What a root may not have beside its properties. The server checks it. */
const NOT_AT_ROOT = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else'];

/** An object's own keywords. */
interface Shape {
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly isClosed: boolean;
}

/**
 * The schema with its root written as one object: what an alternative has can be given, and what all of them require is required.
 * Null when it describes no object. The schema is a mended one.
 */
export function withObjectRoot(root: JsonObject): JsonObject | null {
  let left = MAX_ALTERNATIVES;
  const shapeOf = (value: JsonValue | undefined): Shape | null => {
    left -= 1;
    if (left < 0 || !isJsonObject(value)) return null;
    const { type, properties, required, $ref, allOf, anyOf, oneOf, additionalProperties } = value;
    if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) return null;
    const own: Shape = {
      properties: isJsonObject(properties) ? properties : {},
      required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
      isClosed: additionalProperties === false,
    };
    const referenced = typeof $ref === 'string' ? [findReferenced(root, $ref)] : [];
    const parts = [...referenced, ...(Array.isArray(allOf) ? allOf : [])].map(shapeOf);
    const choices = [anyOf, oneOf].filter(Array.isArray).map((list) => either(list.map(shapeOf)));
    if ([...parts, ...choices].includes(null)) return null;
    return both([own, ...parts, ...choices].filter((shape) => shape !== null));
  };
  const shape = shapeOf(root);
  if (shape === null) return null;
  const { type: _type, required: _required, ...rest } = root;
  for (const name of NOT_AT_ROOT) delete rest[name];
  return {
    ...rest,
    type: 'object',
    properties: shape.properties,
    ...(shape.required.length > 0 && { required: [...shape.required] }),
    ...(shape.isClosed && { additionalProperties: false }),
  };
}

/** What fits all of them. */
function both(shapes: readonly Shape[]): Shape {
  return {
    properties: merged(shapes),
    required: [...new Set(shapes.flatMap(({ required }) => required))],
    // One that is closed allows none of what the others have; the server says so.
    isClosed: shapes.length === 1 && shapes[0]!.isClosed,
  };
}

/** What fits one of them; null when none is an object. */
function either(given: readonly (Shape | null)[]): Shape | null {
  const shapes = given.filter((shape) => shape !== null);
  const [first] = shapes;
  if (first === undefined) return null;
  return {
    properties: merged(shapes),
    required: first.required.filter((name) => shapes.every(({ required }) => required.includes(name))),
    isClosed: shapes.every(({ isClosed }) => isClosed),
  };
}

function merged(shapes: readonly Shape[]): JsonObject {
  const found = new Map<string, JsonValue[]>();
  for (const { properties } of shapes)
    for (const [name, schema] of Object.entries(properties)) {
      const others = found.get(name) ?? [];
      if (!others.some((other) => isDeepStrictEqual(other, schema))) found.set(name, [...others, schema]);
    }
  return Object.fromEntries([...found].map(([name, schemas]) => [name, oneOfThem(schemas)]));
}

/** Constants of several alternatives are one list of what can be given. */
function oneOfThem(schemas: JsonValue[]): JsonValue {
  if (schemas.length === 1) return schemas[0]!;
  const values = schemas.map((schema) => (isJsonObject(schema) ? valuesOf(schema) : undefined));
  if (values.includes(undefined)) return { anyOf: schemas };
  const { const: _const, ...rest } = schemas[0] as JsonObject;
  return { ...rest, enum: [...new Set(values.flatMap((some) => some ?? []))] };
}

function valuesOf(schema: JsonObject): JsonValue[] | undefined {
  if (schema['const'] !== undefined) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
}
