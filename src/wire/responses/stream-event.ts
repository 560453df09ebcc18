// The events of the Responses protocol's stream (M3). Each is sent under the name that its `type` has.
import { array, json, tagged } from '../shapes/composites.ts';
import { constant, integer, string } from '../shapes/scalars.ts';
import { named, nullable, type Static } from '../shapes/shape.ts';
import { outputItem, outputText, response } from './response.ts';

const count = integer({ from: 0 });
const NUMBERED = { sequence_number: count };
const OF_RESPONSE = { response, ...NUMBERED };
const OF_ITEM = { item: outputItem, output_index: count, ...NUMBERED };
const OF_CALL = { item_id: string, output_index: count, ...NUMBERED };
const IN_ITEM = { ...OF_CALL, content_index: count };
const OF_PART = { ...IN_ITEM, part: outputText };

export const responsesStreamEvent = named(
  'ResponsesStreamEvent',
  tagged('type', {
    'response.created': OF_RESPONSE,
    'response.queued': OF_RESPONSE,
    'response.in_progress': OF_RESPONSE,
    'response.output_item.added': OF_ITEM,
    'response.content_part.added': OF_PART,
    'response.output_text.delta': { ...IN_ITEM, delta: string, logprobs: array(json) },
    'response.output_text.done': { ...IN_ITEM, text: string, logprobs: array(json) },
    'response.content_part.done': OF_PART,
    'response.function_call_arguments.delta': { ...OF_CALL, delta: string },
    'response.function_call_arguments.done': { ...OF_CALL, arguments: string },
    'response.output_item.done': OF_ITEM,
    'response.completed': OF_RESPONSE,
    'response.incomplete': OF_RESPONSE,
    'response.failed': OF_RESPONSE,
    error: { code: nullable(string), message: string, param: constant(null), ...NUMBERED },
  }),
);

export type ResponsesStreamEvent = Static<typeof responsesStreamEvent>;
