// Reads the schema of a structured result, in whichever field it stands (§4.4).
import { unprocessable } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readOutputSchema } from '../../domain/output-schema.ts';
import type { Reader } from '../frame/fields.ts';
import { holdsStandIn } from '../../wire/stand-in.ts';

/** As `readOutputSchema`, of a body whose long strings are laid aside: they are longer than a schema may be. */
export const readSchema: Reader<JsonObject> = (value, field) => {
  const schema = readOutputSchema(value, field);
  if (holdsStandIn(schema)) throw unprocessable(field, 'must be at most 64 KB');
  return schema;
};
