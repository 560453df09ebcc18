// What the model was asked in a run, in the form that most model servers take.
import { array, jsonObject, object } from '../shapes/composites.ts';
import { boolean, constant, integer, oneOf, string } from '../shapes/scalars.ts';
import { named, nullable, optional, type Static } from '../shapes/shape.ts';
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

/** The request of a step is its setup, then the first `messages` of `conversation`. `setup` is a place in `setups`. */
const request = object({
  step: count,
  messages: count,
  setup: nullable(count),
  model: nullable(string),
  input_tokens: nullable(count),
  output_tokens: nullable(count),
  first_token_ms: nullable(count),
});

/** `recorded`: as the model got it; otherwise as it would be today. `tools_left_out`: names. */
const setup = object({
  from_step: count,
  recorded: boolean,
  system: string,
  tools: array(
    object({
      type: constant('function'),
      function: object({ name: string, description: string, parameters: jsonObject }),
    }),
  ),
  tools_left_out: array(string),
});

/** An attached file: `base64` of an image, `text` of a document, or why it has neither. */
const file = named(
  'ExportedFile',
  object({
    sha256: string,
    mime_type: string,
    size: count,
    base64: optional(string),
    text: optional(string),
    characters: optional(count),
    left_out: optional(string),
  }),
);
export type ExportedFileWire = Static<typeof file>;

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
    setups: array(setup),
    output_schema: nullable(jsonObject),
    older_left_out: boolean,
    requests: array(request),
    conversation: array(chatMessage),
    files: array(file),
    timeline: array(span),
  }),
);
export type RunExportWire = Static<typeof runExport>;
