// The events of the Messages protocol's stream (§4.3, C10, C15). Each is sent under the name that its `type` has.
import { array, json, jsonObject, object, tagged } from '../shapes/composites.ts';
import { errorFacts } from '../error.ts';
import { boolean, constant, integer, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { named, nullable, type Static } from '../shapes/shape.ts';
import { contentBlock, stopReason, usage } from './message.ts';

const index = integer({ from: 0 });
const count = integer({ from: 0 });

const startOfMessage = object({
  id: string,
  type: oneOf(['message']),
  role: oneOf(['assistant']),
  model: string,
  content: array(contentBlock),
  stop_reason: nullable(stopReason),
  stop_sequence: constant(null),
  /** The best estimate at this point; `message_delta` has the counts. */
  usage: object({ input_tokens: count, output_tokens: count }),
});

const contentDelta = tagged('type', { text_delta: { text: string }, input_json_delta: { partial_json: string } });
/** `agent`: the sub-agent that asks; null for the run's own. */
const ASKED_MODEL = { model: string, agent: nullable(string) };
const QUESTION = { request_id: uuid, tool_use_id: string };

export const messagesStreamEvent = named(
  'MessagesStreamEvent',
  tagged('type', {
    message_start: { message: startOfMessage },
    content_block_start: { index, content_block: contentBlock },
    content_block_delta: { index, delta: contentDelta },
    content_block_stop: { index },
    tool_use: { tool_use_id: string, name: string, input: jsonObject },
    tool_result: { tool_use_id: string, name: string, ok: boolean, preview: string, duration_ms: count },
    'user_input.requested': { ...QUESTION, tool_name: string, expires_at: time },
    'user_input.answered': QUESTION,
    'user_input.expired': QUESTION,
    'model_wait.started': { ...ASKED_MODEL, message: string, patience_ms: count, until: time },
    'model_wait.ended': { ...ASKED_MODEL, answered: boolean, waited_ms: count },
    message_delta: { delta: object({ stop_reason: stopReason, stop_sequence: constant(null) }), usage },
    result: { subtype: oneOf(['success']), structured_output: json },
    message_stop: {},
    ping: {},
    error: { error: errorFacts },
  }),
);

export type MessagesStreamEvent = Static<typeof messagesStreamEvent>;
