// The schema of a result as client libraries make it from types, with the words next to it.
import { fromClientLibrary } from '../../../domain/schema/draft-07.ts';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import { outputSchemaField } from '../../../domain/schema/output-schema.ts';
import type { Protocol } from '../../../domain/sessions/run.ts';
import { outputSchema } from '../../../wire/conversations/output-schema.ts';

/** The Draft-07 schema to work with. The model reads `words`. Throws `unprocessable`. */
export function readClientSchema(sent: JsonValue | undefined, protocol: Protocol, words: JsonObject = {}): JsonObject {
  const schema: JsonValue | undefined = fromClientLibrary(sent);
  const whole = typeof schema === 'object' && !Array.isArray(schema) ? { ...words, ...schema } : schema;
  return outputSchema.read(whole, outputSchemaField({ protocol, resultInContent: true }));
}
