// A Response: the reply to a turn, and the state of a run, of the Responses protocol (M3).
import { isJsonObject } from '../../domain/json.ts';
import { array, dictionary, json, object } from '../shapes/composites.ts';
import { boolean, constant, integer, oneOf, string, uuid } from '../shapes/scalars.ts';
import { anyOf, named, nullable, type Static } from '../shapes/shape.ts';

const count = integer({ from: 0 });
const seconds = integer({ from: 0 });

export const outputText = object({
  type: oneOf(['output_text']),
  text: string,
  annotations: array(json),
  logprobs: array(json),
});

/** What the agent says. */
export const outputMessage = named(
  'ResponseMessage',
  object({
    id: string,
    type: oneOf(['message']),
    status: oneOf(['in_progress', 'completed', 'incomplete']),
    role: oneOf(['assistant']),
    content: array(outputText),
  }),
);

/** The call of the tool that the client has forced (M4). Arguments are JSON text. */
const functionCall = object({
  id: string,
  type: oneOf(['function_call']),
  status: oneOf(['in_progress', 'completed', 'incomplete']),
  call_id: string,
  name: string,
  arguments: string,
});

export const outputItem = anyOf(
  'must be a message or a call',
  { ...functionCall, admits: (value) => isJsonObject(value) && value['type'] === 'function_call' },
  outputMessage,
);

/** Token counts in this protocol's sense: cached tokens are part of the input. */
const usage = object({
  input_tokens: count,
  input_tokens_details: object({ cached_tokens: count, cache_write_tokens: count }),
  output_tokens: count,
  output_tokens_details: object({ reasoning_tokens: count }),
  total_tokens: count,
});

/** What the interface takes without using it is echoed as what it is in the absence of any. */
const UNUSED = {
  access_programs: constant(null),
  instructions: constant(null),
  max_output_tokens: constant(null),
  max_tool_calls: constant(null),
  parallel_tool_calls: boolean,
  reasoning: object({ effort: constant(null), summary: constant(null) }),
  service_tier: oneOf(['default']),
  temperature: constant(null),
  top_logprobs: count,
  top_p: constant(null),
  truncation: oneOf(['disabled']),
  user: constant(null),
} as const;

const forcedFunction = object({ type: oneOf(['function']), name: string });

/** `conversation` is the session. `output` has the answer, once there is one. */
export const response = named(
  'Response',
  object({
    id: string,
    object: oneOf(['response']),
    created_at: seconds,
    completed_at: nullable(seconds),
    status: oneOf(['queued', 'in_progress', 'completed', 'failed', 'cancelled', 'incomplete']),
    background: boolean,
    error: nullable(object({ code: oneOf(['server_error', 'rate_limit_exceeded']), message: string })),
    incomplete_details: nullable(object({ reason: oneOf(['max_output_tokens']) })),
    model: string,
    output: array(outputItem),
    conversation: object({ id: uuid }),
    previous_response_id: nullable(string),
    metadata: dictionary(string),
    store: boolean,
    text: object({ format: json }),
    // Of what the client has defined, the tool that it has forced.
    tool_choice: anyOf('must be auto or a function', oneOf(['auto']), forcedFunction),
    tools: array(json),
    usage: nullable(usage),
    ...UNUSED,
  }),
);

export const deletedResponse = named(
  'DeletedResponse',
  object({ id: string, object: oneOf(['response']), deleted: constant(true) }),
);

export type ResponseWire = Static<typeof response>;
export type OutputItemWire = Static<typeof outputItem>;
export type FunctionCallWire = Static<typeof functionCall>;
export type OutputMessageWire = Static<typeof outputMessage>;
export type UnusedWire = Pick<ResponseWire, keyof typeof UNUSED>;
