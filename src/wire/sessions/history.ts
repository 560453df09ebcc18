// A session's history (§2.7, E2).
import { array, jsonObject, object, tagged } from '../shapes/composites.ts';
import { boolean, integer, oneOf, string, uuid } from '../shapes/scalars.ts';
import { named, nullable, type Static } from '../shapes/shape.ts';

export const attachment = named(
  'Attachment',
  object({
    id: string,
    name: string,
    path: string,
    mime_type: string,
    size: integer({ from: 0 }),
    sha256: string,
  }),
);
export type AttachmentWire = Static<typeof attachment>;

const textBlock = { text: string };
const mediaBlock = { attachment_id: string, file_name: nullable(string), path: nullable(string) };

/** A block of what a user said. */
export const userBlock = tagged('type', { text: textBlock, image: mediaBlock, file: mediaBlock });
export type UserBlockWire = Static<typeof userBlock>;

/** A block of what an agent said and did. */
export const assistantBlock = tagged('type', {
  text: textBlock,
  tool_use: { id: string, name: string, input: jsonObject },
  tool_result: { tool_use_id: string, is_error: boolean, content: string },
});
export type AssistantBlockWire = Static<typeof assistantBlock>;

/** The fields of a message. */
export const messageFields = {
  id: integer(),
  role: oneOf(['user', 'assistant']),
  text_preview: string,
  content: tagged('_type', {
    UserMessage: { content: array(userBlock) },
    AssistantMessage: { content: array(assistantBlock) },
  }),
  attachments: array(attachment),
};

/** A message. */
export const message = named('HistoryMessage', object(messageFields));
export type HistoryMessageWire = Static<typeof message>;

/** A session's messages, oldest first. */
export const history = named('History', object({ session_id: uuid, messages: array(message) }));
export type HistoryWire = Static<typeof history>;
