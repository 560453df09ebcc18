// The field by which servers of the chat completions protocol keep a reply to a schema.
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import { listSchemas } from '../../domain/schema/json-schema.ts';
import { sentReplySchema } from './sent-schema.ts';

/** The value of `response_format`. Servers with a grammar of their own obey it with and without `strict`; OpenAI only with it. */
export function chatFormat(schema: JsonObject): JsonObject {
  return {
    type: 'json_schema',
    json_schema: { name: 'result', schema: sentReplySchema(schema), strict: isClosed(schema) },
  };
}

/** Whether each object has exactly the properties that it names: OpenAI refuses `strict` for other schemas. */
function isClosed(schema: JsonObject): boolean {
  if (schema['type'] !== 'object') return false;
  return listSchemas(schema).every(({ schema: inner }) => {
    const { type, properties, required, additionalProperties } = inner;
    const isObject = type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined;
    if (!isObject) return true;
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    return additionalProperties === false && Array.isArray(required) && names.every((name) => required.includes(name));
  });
}
