// The schema of a structured result in a request (§4.4).
import { unprocessable } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readOutputSchema } from '../../domain/schema/output-schema.ts';
import type { Shape } from '../shapes/shape.ts';
import { holdsStandIn } from '../shapes/stand-in.ts';

/** A JSON Schema, in Draft-07 as `readOutputSchema` leaves it. */
export const outputSchema: Shape<JsonObject> = {
  admits: (value) => value !== undefined,
  read: (value, path) => {
    const schema = readOutputSchema(value, path);
    // The long strings of a body are spooled; they are longer than a schema may be.
    if (holdsStandIn(schema)) throw unprocessable(path, 'must be at most 64 KB');
    return schema;
  },
  describe: () => ({
    type: ['object', 'boolean'],
    description: 'A JSON Schema: all of Draft-07, and what of newer drafts and of OpenAPI has an equivalent there.',
  }),
};
