// `response_format` of a chat request: the schema that the answer has to fit, as JSON text (OpenAI's structured outputs).
import { fromClientLibrary } from '../../domain/draft-07.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { OUTPUT_SCHEMA_FIELDS } from '../../domain/output-schema.ts';
import { readSchema } from './output-schema-wire.ts';
import { oneOf, optional, readBoolean, readObject, type Reader, readString } from '../frame/fields.ts';

/** What each type asks for; null is text. */
const FORMATS = {
  text: () => null,
  json_object: () => ({ type: 'object' }),
  json_schema: readJsonSchema,
} as const satisfies Record<string, (format: JsonObject, path: string) => JsonObject | null>;

const readType = oneOf(Object.keys(FORMATS) as (keyof typeof FORMATS)[]);

/** The Draft-07 schema of the result, or null when the answer is text. Throws `unprocessable`. */
export const readResponseFormat: Reader<JsonObject | null> = (value, path) => {
  const format = readObject(value, path);
  return FORMATS[readType(format['type'], `${path}.type`)](format, path);
};

/** `strict` is only looked at for its form: every result is held against its schema. The model reads name and description. */
function readJsonSchema(format: JsonObject, path: string): JsonObject {
  const at = `${path}.json_schema`;
  const told = readObject(format['json_schema'], at);
  optional(told['strict'], `${at}.strict`, readBoolean);
  const title = optional(told['name'], `${at}.name`, readString);
  const description = optional(told['description'], `${at}.description`, readString);
  const words: JsonObject = { ...(title !== null && { title }), ...(description !== null && { description }) };
  const schema: JsonValue | undefined = fromClientLibrary(told['schema']);
  const whole = typeof schema === 'object' && !Array.isArray(schema) ? { ...words, ...schema } : schema;
  return readSchema(whole, OUTPUT_SCHEMA_FIELDS.chat);
}
