// The schema that an answer has to fit, as OpenAI's clients ask for it: `response_format` of chat, `text.format` of Responses.
import type { JsonObject } from '../../../domain/json.ts';
import type { Protocol } from '../../../domain/sessions/run.ts';
import type { ResponseFormat } from '../../../wire/chat/request.ts';
import { readClientSchema } from './client-schema.ts';

/** The Draft-07 schema of the result, or null when the answer is text. Throws `unprocessable`. */
export function schemaOf(format: ResponseFormat, protocol: Protocol): JsonObject | null {
  if (format.type === 'text') return null;
  return format.type === 'json_object' ? { type: 'object' } : readJsonSchema(format.json_schema, protocol);
}

type JsonSchemaFormat = Extract<ResponseFormat, { readonly type: 'json_schema' }>['json_schema'];

/** `strict` changes nothing: every result is checked against its schema. The model reads name and description. */
function readJsonSchema({ name, description, schema }: JsonSchemaFormat, protocol: Protocol): JsonObject {
  const words: JsonObject = {
    ...(typeof name === 'string' && { title: name }),
    ...(typeof description === 'string' && { description }),
  };
  return readClientSchema(schema, protocol, words);
}
