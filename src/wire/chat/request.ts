// The request of the chat-completions protocol (§4.2), with OpenAI's structured outputs.
import { json, object, tagged } from '../shapes/composites.ts';
import {
  contentOf,
  contextField,
  fileDataFields,
  fileFields,
  textFields,
  unsupported,
} from '../conversations/content.ts';
import { outputSchema } from '../conversations/output-schema.ts';
import { boolean, longString, string } from '../shapes/scalars.ts';
import { anyOf, named, nullish, optional, type Static, unread } from '../shapes/shape.ts';
import { messagesOf, metadata, model } from '../conversations/turn.ts';

/** An image, as text or in an object. Responses has the first, and is forgiven the second. */
export const chatImage = {
  file_id: nullish(unsupported('is not supported: send the image as a data: URL')),
  image_url: anyOf('must be an object', longString, object({ url: longString })),
};

/** As in the Messages protocol; and as the client library has it. */
const noFile = unsupported('is not supported: send the file as file_data');
const document = { file_id: noFile, ...fileFields };
const file = { ...document, source: optional(fileFields.source), file: nullish(object(fileDataFields)) };

const block = tagged('type', {
  text: textFields,
  image_url: chatImage,
  input_image: chatImage,
  file,
  document: { ...document, ...contextField },
});

export const chatContent = named('ChatContent', contentOf(block));

/** Its schema is read together with the name and the description next to it. */
const jsonSchema = object({
  strict: nullish(boolean),
  name: nullish(string),
  description: nullish(string),
  schema: unread(outputSchema),
});

const responseFormat = tagged('type', { text: {}, json_object: {}, json_schema: { json_schema: jsonSchema } });

export const chatRequest = named(
  'ChatRequest',
  object({
    model,
    stream: nullish(boolean),
    stream_options: nullish(object({ include_usage: nullish(boolean) })),
    metadata,
    response_format: nullish(responseFormat),
    tools: optional(json),
    tool_choice: optional(json),
    functions: optional(json),
    function_call: optional(json),
    messages: messagesOf(chatContent),
  }),
);

export type ChatRequest = Static<typeof chatRequest>;
export type ChatBlock = Static<typeof block>;
export type ResponseFormat = Static<typeof responseFormat>;
