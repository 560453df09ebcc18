// The request of the Messages protocol (§4.3, §4.4).
import { array, json, object, tagged } from '../shapes/composites.ts';
import {
  contentOf,
  documentFields,
  fileFields,
  searchResultFields,
  textFields,
  toolFields,
} from '../conversations/content.ts';
import { outputSchema } from '../conversations/output-schema.ts';
import { boolean, integer, number, oneOf, string } from '../shapes/scalars.ts';
import { anyOf, named, nullish, optional, type Static, unread } from '../shapes/shape.ts';
import { idempotencyKey, messagesOf, metadata, model } from '../conversations/turn.ts';
import { backgroundPayload } from './message.ts';

/** What a document may be made of. */
const inner = tagged('type', { text: textFields, image: fileFields });

const block = tagged('type', {
  text: textFields,
  image: fileFields,
  file: fileFields,
  document: documentFields(inner),
  search_result: searchResultFields,
  ...toolFields,
});

export const messagesContent = named('MessagesContent', contentOf(block));

/** Fields that are taken for compatibility: their form is checked, their value is not used. */
const UNUSED = {
  max_tokens: nullish(integer()),
  temperature: nullish(number()),
  top_p: nullish(number()),
  top_k: nullish(number()),
  stop_sequences: nullish(array(string)),
  system: nullish(anyOf('must be a string or an array', unread(string), unread(array(json)))),
};

/** As the client library sends it, with a schema that it made from types. */
const clientFormat = object({ type: oneOf(['json_schema']), schema: unread(outputSchema) });

export const messagesRequest = named(
  'MessagesRequest',
  object({
    model,
    stream: nullish(boolean),
    metadata,
    idempotency_key: nullish(idempotencyKey),
    background: nullish(boolean),
    background_payload: nullish(backgroundPayload),
    ...UNUSED,
    output_format: nullish(object({ type: oneOf(['json_schema']), schema: outputSchema })),
    output_config: nullish(object({ format: nullish(clientFormat) })),
    tools: optional(json),
    tool_choice: optional(json),
    messages: messagesOf(messagesContent),
  }),
);

export type MessagesRequest = Static<typeof messagesRequest>;
export type MessagesBlock = Static<typeof block>;
