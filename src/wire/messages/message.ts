// A Message: the reply to a turn, and the state of a background run (§2.4, §2.5).
import { RUN_STATUSES, STOP_REASONS } from '../../domain/sessions/run.ts';
import { isJsonObject } from '../../domain/json.ts';
import { base64 } from '../shapes/base64.ts';
import { array, json, jsonObject, object, tagged } from '../shapes/composites.ts';
import { runError } from '../run-error.ts';
import { constant, integer, oneOf, string, uuid } from '../shapes/scalars.ts';
import { anyOf, named, nullable, optional, type Static } from '../shapes/shape.ts';

/** What a submission asks to have back verbatim (§4.3). */
export const backgroundPayload = base64({ max: 8_192 });

const count = integer({ from: 0 });

/** What an answer is made of: its text, or the call of the tool that the client has forced. */
export const contentBlock = tagged('type', {
  text: { text: string },
  tool_use: { id: string, name: string, input: jsonObject },
});

/** Token counts in this protocol's sense: `input_tokens` are those neither read from nor written to a cache. */
export const usage = object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: nullable(count),
  cache_read_input_tokens: nullable(count),
});

/** `tool_use`: the answer is a call of the tool that the client has forced (M4). */
export const stopReason = oneOf([...STOP_REASONS, 'tool_use']);

const backgroundResults = object({
  session_id: uuid,
  run_id: uuid,
  status: oneOf(RUN_STATUSES),
  result_url: string,
  retry_after_ms: nullable(count),
  background_payload: nullable(backgroundPayload),
  error: nullable(runError),
  queue_position: optional(count),
});

const MESSAGE = {
  id: string,
  type: oneOf(['message']),
  role: oneOf(['assistant']),
  model: string,
  content: array(contentBlock),
  stop_reason: nullable(stopReason),
  stop_sequence: constant(null),
  usage,
  structured_output: optional(json),
};

/** A whole reply. `structured_output` is present exactly when a schema was given. */
export const message = named('Message', object(MESSAGE));

/** What is known of a background run. Its content is empty until it has completed. */
export const backgroundMessage = named(
  'BackgroundMessage',
  object({ ...MESSAGE, background_results: backgroundResults }),
);

/** What a turn would come to, as its stream would say at its start. */
export const tokenCount = named('TokenCount', object({ input_tokens: count }));

/** The reply to a turn: its answer, or the state of the background run that it began. */
export const conversationReply = anyOf('must be a message', { ...backgroundMessage, admits: isBackground }, message);

function isBackground(value: unknown): boolean {
  return isJsonObject(value) && 'background_results' in value;
}

export type ConversationReplyWire = Static<typeof conversationReply>;
export type MessageWire = Static<typeof message>;
export type TokenCountWire = Static<typeof tokenCount>;
export type BackgroundMessageWire = Static<typeof backgroundMessage>;
export type ContentBlockWire = Static<typeof contentBlock>;
export type StopReasonWire = Static<typeof stopReason>;
export type UsageWire = Static<typeof usage>;
