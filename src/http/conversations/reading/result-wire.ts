// The result that a request asks for, however its protocol has it: as a format of the answer, or as a tool that is forced (M4).
import type { JsonObject } from '../../../domain/json.ts';
import type { TurnInput } from '../../../operations/turns/turn.ts';
import type { ResponseFormat } from '../../../wire/chat/request.ts';
import { readClientSchema } from './client-schema.ts';
import type { ForcedTool } from './forced-tool.ts';

/** What of a turn says which result it has. */
export type AskedResult = Pick<TurnInput, 'outputSchema' | 'resultInContent' | 'resultTool' | 'schemaField'>;

/** An answer in words. */
export const NO_RESULT: AskedResult = {
  outputSchema: null,
  resultInContent: false,
  resultTool: null,
  schemaField: null,
};

/** A result that is the content of the reply. */
export const inContent = (outputSchema: JsonObject, schemaField: string): AskedResult => ({
  outputSchema,
  resultInContent: true,
  resultTool: null,
  schemaField,
});

/** A result that the reply is a call with. */
export const asCall = ({ outputSchema, resultTool, schemaField }: ForcedTool): AskedResult => ({
  outputSchema,
  resultInContent: true,
  resultTool,
  schemaField,
});

/**
 * What a request of OpenAI's clients asks for. A forced tool goes first: such a reply has no content that a format could be kept
 * in. `field`: of the format's schema. Throws `unprocessable`.
 */
export function resultOf(forced: ForcedTool | null, format: ResponseFormat | null, field: string): AskedResult {
  if (forced !== null) return asCall(forced);
  if (format === null || format.type === 'text') return NO_RESULT;
  const schema = format.type === 'json_object' ? { type: 'object' } : readJsonSchema(format.json_schema, field);
  return inContent(schema, field);
}

type JsonSchemaFormat = Extract<ResponseFormat, { readonly type: 'json_schema' }>['json_schema'];

/** `strict` changes nothing: every result is checked against its schema. The model reads name and description. */
function readJsonSchema({ name, description, schema }: JsonSchemaFormat, field: string): JsonObject {
  const words: JsonObject = {
    ...(typeof name === 'string' && { title: name }),
    ...(typeof description === 'string' && { description }),
  };
  return readClientSchema(schema, field, words);
}
