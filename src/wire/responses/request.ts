// The request of the Responses protocol (M3), as OpenAI's client sends it.
import { notFound, unprocessable } from '../../domain/errors.ts';
import { runIdOfResponse } from '../../domain/ids.ts';
import { chatImage } from '../chat/request.ts';
import { contentOf, fileDataFields, textFields } from '../conversations/content.ts';
import { outputSchema } from '../conversations/output-schema.ts';
import { model } from '../conversations/turn.ts';
import { flag, optionalFrom } from '../shapes/query.ts';
import { array, dictionary, json, object, tagged } from '../shapes/composites.ts';
import { boolean, longString, oneOf, string, text, uuid } from '../shapes/scalars.ts';
import { anyOf, named, nullish, optional, refined, type Shape, type Static, unread } from '../shapes/shape.ts';

const MAX_ITEMS = 10_000;

const block = tagged('type', {
  input_text: textFields,
  text: textFields,
  input_image: chatImage,
  input_file: fileDataFields,
});

/** The content of a user's message. */
export const responsesContent = named('ResponsesContent', contentOf(block));

const userMessage = object({ type: optional(oneOf(['message'])), role: oneOf(['user']), content: responsesContent });

const anyItem = object({
  type: nullish(string),
  role: nullish(string),
  content: optional(json),
  output: optional(json),
  id: optional(json),
});

/** Items of which the last user's message is read: of all others only the form counts (§1). */
const item: typeof anyItem = {
  ...anyItem,
  describe: (components) => ({ anyOf: [userMessage.describe(components), anyItem.describe(components)] }),
};

const input = anyOf(
  'must be a string or an array of items',
  longString,
  array(item, { min: 1, max: MAX_ITEMS, words: `must hold at most ${MAX_ITEMS} items` }),
);

/** The id of a response, read as that of its run. */
const responseId: Shape<string> = {
  ...string,
  read: (value, path) => {
    const runId = runIdOfResponse(string.read(value, path));
    if (runId === null) throw unprocessable(path, 'must be the id of a response: resp_ and 32 hexadecimal digits');
    return runId;
  },
};

const MAX_PAIRS = 16;
const MAX_NAME = 64;
const MAX_VALUE = 512;

/** Echoed. `session_id` names the session that the turn continues, as in the other protocols. */
const metadata = refined(
  dictionary(text({ min: 0, max: MAX_VALUE })),
  (pairs, path) => {
    const names = Object.keys(pairs);
    if (names.length > MAX_PAIRS) throw unprocessable(path, `must hold at most ${MAX_PAIRS} pairs`);
    if (names.some((name) => Array.from(name).length > MAX_NAME))
      throw unprocessable(path, `must have names of at most ${MAX_NAME} characters`);
    return pairs;
  },
  { maxProperties: MAX_PAIRS },
);

const format = tagged('type', {
  text: {},
  json_object: {},
  json_schema: {
    strict: nullish(boolean),
    name: nullish(string),
    description: nullish(string),
    schema: unread(outputSchema),
  },
});

export const responsesRequest = named(
  'ResponsesRequest',
  object({
    model,
    stream: nullish(boolean),
    background: nullish(boolean),
    store: nullish(boolean),
    metadata: nullish(metadata),
    previous_response_id: nullish(responseId),
    conversation: nullish(anyOf('must be the id of a session', uuid, object({ id: uuid }))),
    tools: optional(json),
    tool_choice: optional(json),
    text: nullish(object({ format: nullish(format) })),
    input,
  }),
);

export type ResponsesRequest = Static<typeof responsesRequest>;
export type ResponsesBlock = Static<typeof block>;
export type ResponsesFormat = Static<typeof format>;

/** The id of a response in a path, read as that of its run. One of another form isn't found (A8). */
export const responseInPath: Shape<string> = {
  ...string,
  read: (value) => {
    const runId = typeof value === 'string' ? runIdOfResponse(value) : null;
    if (runId === null) throw notFound('Response');
    return runId;
  },
};

/** Whether to follow the stream of a response, and after which number. */
export const responseQuery = object({ stream: flag, starting_after: optionalFrom(0, 'must be an integer from 0') });
