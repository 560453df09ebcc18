// What the model was asked in a run, in the form that most model servers take.
import { array, jsonObject, object } from '../composites.ts';
import { boolean, constant, integer, oneOf, string } from '../scalars.ts';
import { named, nullable, optional, type Static } from '../shape.ts';
import { run } from './run.ts';
import { span } from './timeline.ts';

const count = integer({ from: 0 });

const toolCall = object({
  id: string,
  type: constant('function'),
  function: object({ name: string, arguments: string }),
});

const chatMessage = named(
  'ExportedMessage',
  object({
    role: oneOf(['user', 'assistant', 'tool']),
    content: nullable(string),
    tool_calls: optional(array(toolCall)),
    tool_call_id: optional(string),
  }),
);
export type ChatMessageWire = Static<typeof chatMessage>;

/** The request of a step is `system`, then the first `messages` of `conversation`. */
const request = object({
  step: count,
  messages: count,
  model: nullable(string),
  input_tokens: nullable(count),
  output_tokens: nullable(count),
  first_token_ms: nullable(count),
});

/** `readme` says what of it is exact. */
export const runExport = named(
  'RunExport',
  object({
    format: constant('errand-run-export'),
    version: constant(1),
    readme: array(string),
    run,
    complete: boolean,
    model: nullable(object({ name: string, endpoint: string, kind: string })),
    system: nullable(string),
    tools: array(
      object({
        type: constant('function'),
        function: object({ name: string, description: string, parameters: jsonObject }),
      }),
    ),
    output_schema: nullable(jsonObject),
    older_left_out: boolean,
    requests: array(request),
    conversation: array(chatMessage),
    timeline: array(span),
  }),
);
export type RunExportWire = Static<typeof runExport>;
