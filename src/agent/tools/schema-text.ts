// The JSON text of a tool's input schema, written once: those of built-in tools are the same objects in all runs.
import type { JsonObject } from '../../domain/json.ts';

const texts = new WeakMap<JsonObject, string>();

/** The schema as JSON. It must not be changed afterwards. */
export function schemaText(schema: JsonObject): string {
  const known = texts.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema);
  texts.set(schema, text);
  return text;
}
