// The schema of a result as client libraries send it, with the words next to it.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.ts';
import { outputSchema } from '../../../wire/conversations/output-schema.ts';

/** The Draft-07 schema to work with; it was sent in `field`. The model reads `words`. Throws `unprocessable`. */
export function readClientSchema(sent: JsonValue | undefined, field: string, words: JsonObject = {}): JsonObject {
  return outputSchema.read(isJsonObject(sent) ? { ...words, ...sent } : sent, field);
}
