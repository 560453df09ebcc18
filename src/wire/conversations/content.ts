// The content of a user's message in a request: its text, and the blocks that both protocols share (§4.2, §4.3, C3).
import { unprocessable } from '../../domain/errors.ts';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import { array, at, jsonObject, object } from '../shapes/composites.ts';
import { line, longString, string } from '../shapes/scalars.ts';
import { anyOf, nullish, type OptionalShape, optional, refined, type Shape } from '../shapes/shape.ts';

const MAX_BLOCKS = 1_000;
const MAX_ATTACHMENTS = 100;
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

/** A file. The Anthropic client calls its name `title`. */
export const fileFields = { file_name: nullish(line({ max: 255 })), title: nullish(string), source };

/** A file as OpenAI has it. */
export const fileDataFields = {
  file_id: nullish(unsupported('is not supported: send the file as file_data')),
  file_url: nullish(unsupported('is not supported: send the file as file_data')),
  filename: nullish(line({ max: 255 })),
  file_data: longString,
};

/** The blocks of one message, each by the shape `block`. */
export function contentOf<B>(block: Shape<B>): Shape<string | readonly B[]> {
  const typed: Shape<B> = {
    ...block,
    read: (value, path) => {
      string.read(jsonObject.read(value, path)['type'], at(path, 'type'));
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

const isText = (type: JsonValue | undefined) => type === 'text' || type === 'input_text';

function requireFewAttachments(blocks: JsonValue | undefined, path: string): void {
  if (!Array.isArray(blocks) || blocks.length > MAX_BLOCKS) return;
  const attachments = blocks.filter((block) => !isJsonObject(block) || !isText(block['type'])).length;
  if (attachments > MAX_ATTACHMENTS) throw unprocessable(path, `must hold at most ${MAX_ATTACHMENTS} attachments`);
}
