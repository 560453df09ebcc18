// The schema of a result as client libraries make it from types, with the words next to it.
import { fromClientLibrary } from '../../../domain/schema/draft-07.ts';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import { outputSchema } from '../../../wire/conversations/output-schema.ts';

/** The Draft-07 schema to work with; it was sent in `field`. The model reads `words`. Throws `unprocessable`. */
export function readClientSchema(sent: JsonValue | undefined, field: string, words: JsonObject = {}): JsonObject {
  const schema: JsonValue | undefined = fromClientLibrary(sent);
  const whole = typeof schema === 'object' && !Array.isArray(schema) ? { ...words, ...schema } : schema;
  return outputSchema.read(whole, field);
}
