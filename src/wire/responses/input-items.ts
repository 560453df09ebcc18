// What a response was asked: its user's message (M3).
import { array, object, tagged } from '../shapes/composites.ts';
import { boolean, constant, oneOf, string } from '../shapes/scalars.ts';
import { named, nullable, nullish, type Static } from '../shapes/shape.ts';

/** Of what was attached there is the path, which a request takes in its place. */
const block = tagged('type', {
  input_text: { text: string },
  input_image: { detail: oneOf(['auto']), file_id: constant(null), image_url: nullable(string) },
  input_file: { file_id: constant(null), filename: nullable(string), file_data: nullable(string) },
});

const item = object({
  id: string,
  type: oneOf(['message']),
  status: oneOf(['completed']),
  role: oneOf(['user']),
  content: array(block),
});

export const inputItems = named(
  'ResponseInputItems',
  object({
    object: oneOf(['list']),
    data: array(item),
    first_id: nullable(string),
    last_id: nullable(string),
    has_more: boolean,
  }),
);

/** The item behind which to begin. */
export const inputItemsQuery = object({ after: nullish(string) });

export type InputItemsWire = Static<typeof inputItems>;
export type InputItemWire = Static<typeof item>;
export type InputBlockWire = Static<typeof block>;
