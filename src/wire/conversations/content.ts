// The content of a user's message in a request: its text, and the blocks that both protocols share (§4.2, §4.3, C3).
import { unprocessable } from '../../domain/errors.ts';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import { array, at, json, jsonObject, object } from '../shapes/composites.ts';
import { line, longString, oneOf, string } from '../shapes/scalars.ts';
import { anyOf, nullish, type OptionalShape, optional, refined, type Shape } from '../shapes/shape.ts';

const MAX_BLOCKS = 1_000;
/** Of one turn. */
export const MAX_ATTACHMENTS = 100;
const LONGEST_MEDIA_TYPE = 400;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** `type/subtype`, read in lower case and without parameters. */
export const mediaType = refined(string, (value, path) => {
  const mimeType = value.slice(0, LONGEST_MEDIA_TYPE).split(';')[0]!.trim().toLowerCase();
  if (!MEDIA_TYPE.test(mimeType)) throw unprocessable(path, 'must name a media type such as image/png');
  return mimeType;
});

/** A field of the original protocol that is refused with what to send in its place. */
export function unsupported(words: string): OptionalShape<never> {
  return optional<never, never, never>({
    admits: () => false,
    read: (_value, path) => {
      throw unprocessable(path, words);
    },
    describe: () => ({ not: {}, description: words }),
  });
}

const HEAD = {
  file_id: unsupported('is not supported: send the bytes as base64'),
  type: nullish(string),
  media_type: nullish(mediaType),
};

const byAddress = object({ ...HEAD, url: longString });
const byText = object({ ...HEAD, data: longString });

/** Its text decides how it is read, not its `type`. `url` is read where `data` is absent. */
const source = anyOf(
  'must be an object',
  {
    ...byAddress,
    admits: (value) => isJsonObject(value) && value['data'] === undefined && value['url'] !== undefined,
  },
  byText,
);

export const textFields = { text: longString };

/** Calls of tools, and what came of them: ignored beside anything else, and read alone as what the user says. */
export const toolFields = { tool_use: {}, tool_result: { content: optional(json) } };

/** A file. The Anthropic client calls its name `title`. */
export const fileFields = { file_name: nullish(line({ max: 255 })), title: nullish(string), source };

/** What the agent is told of a document. */
export const contextField = { context: nullish(longString) };

/** A file, or what is made of texts and images. */
export const documentFields = <B>(inner: Shape<B>) => ({
  ...fileFields,
  ...contextField,
  source: anyOf(
    'must be an object',
    {
      ...object({ type: oneOf(['content']), content: contentOf(inner) }),
      admits: (value: JsonValue | undefined) => isJsonObject(value) && value['type'] === 'content',
    },
    source,
  ),
});

/** What a search has found. */
const passage = object({ type: oneOf(['text']), ...textFields });
export const searchResultFields = {
  source: longString,
  title: longString,
  content: array(passage, { max: MAX_BLOCKS }),
};

/** A file as OpenAI has it. */
export const fileDataFields = {
  file_id: nullish(unsupported('is not supported: send the file as file_data')),
  file_url: nullish(unsupported('is not supported: send the file as file_data')),
  filename: nullish(line({ max: 255 })),
  file_data: longString,
};

/** Blocks of the original protocols that there is nothing for. */
const REFUSED: Readonly<Record<string, string>> = {
  input_audio: 'audio is not supported: send what it says as text',
  container_upload: 'file ids are not supported: send the file as a document, as base64',
};

/** The blocks of one message, each by the shape `block`. */
export function contentOf<B>(block: Shape<B>): Shape<string | readonly B[]> {
  const typed: Shape<B> = {
    ...block,
    read: (value, path) => {
      const type = string.read(jsonObject.read(value, path)['type'], at(path, 'type'));
      const refused = REFUSED[type];
      if (refused !== undefined) throw unprocessable(at(path, 'type'), refused);
      return block.read(value, path);
    },
  };
  const blocks = array(typed, { max: MAX_BLOCKS, words: `must hold at most ${MAX_BLOCKS} blocks` });
  return anyOf('must be a string or an array of blocks', longString, {
    ...blocks,
    read: (value, path) => {
      requireFewAttachments(value, path);
      return blocks.read(value, path);
    },
  });
}

const WITHOUT_FILES: ReadonlySet<JsonValue | undefined> = new Set([
  'text',
  'input_text',
  'search_result',
  'tool_use',
  'tool_result',
]);

function requireFewAttachments(blocks: JsonValue | undefined, path: string): void {
  if (!Array.isArray(blocks) || blocks.length > MAX_BLOCKS) return;
  const attachments = blocks.filter((block) => !isJsonObject(block) || !WITHOUT_FILES.has(block['type'])).length;
  if (attachments > MAX_ATTACHMENTS) throw unprocessable(path, `must hold at most ${MAX_ATTACHMENTS} attachments`);
}
