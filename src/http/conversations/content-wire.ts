// Reads the content blocks of a user's message, in both protocols' forms, into input blocks (§4.2, §4.3, C3).
import { unprocessable } from '../../domain/errors.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { InputBlock } from '../../operations/turns/turn.ts';
import { lineOfAtMost, optional, readObject, readString } from '../frame/fields.ts';
import type { LaidStrings } from '../body/laid-strings.ts';
import { HEAD_CHARACTERS, readSourceText, readUpload, type SourceText } from './source-text.ts';
import type { TurnText } from './turn-text.ts';

/** What the content of one request is read with. */
export interface ContentParts {
  /** Largest decoded attachment (`MAX_UPLOAD_SIZE_MB`). */
  readonly maxUploadBytes: number;
  /** Long strings of the body. */
  readonly laid: LaidStrings;
  /** Reads texts, and counts them. */
  readonly text: TurnText;
}

/** Reads one kind of block. */
export type BlockReader = (block: JsonObject, path: string, parts: ContentParts) => Promise<InputBlock>;

type Media = 'image' | 'file';

/** A source before it is known what its text is. */
interface Source {
  readonly media: Media;
  readonly name: string | null;
  readonly text: SourceText;
  /** Path of the text in the request. */
  readonly path: string;
  readonly mimeType: string | null;
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
const DATA_URL_HEAD = /^data:([^,]*),/i;
const MAX_ADDRESS_CHARACTERS = 8192;
const MAX_NAME = 255;
const readName = lineOfAtMost(MAX_NAME);
const MAX_PATH = 1024;
const readAttachmentPath = lineOfAtMost(MAX_PATH);

const readTextBlock: BlockReader = async (block, path, { text }) => ({
  type: 'text',
  text: await text.read(block['text'], `${path}.text`),
});

/** `{type: image|file|document, file_name, source: {type, media_type, data}}` (§4.3). */
const sourceBlockOf =
  (media: Media): BlockReader =>
  async (block, path, parts) => {
    const source = readObject(block['source'], `${path}.source`);
    if (source['file_id'] !== undefined)
      throw unprocessable(`${path}.source.file_id`, 'is not supported: send the bytes as base64');
    optional(source['type'], `${path}.source.type`, readString);
    const field = source['data'] === undefined && source['url'] !== undefined ? 'url' : 'data';
    const textPath = `${path}.source.${field}`;
    const found: Source = {
      media,
      // The Anthropic client calls it `title`.
      name:
        optional(block['file_name'], `${path}.file_name`, readName) ??
        optional(block['title'], `${path}.title`, readString)?.slice(0, MAX_NAME) ??
        null,
      text: await readSourceText(source[field], textPath, parts.laid),
      path: textPath,
      mimeType: optional(source['media_type'], `${path}.source.media_type`, readMediaType),
    };
    return resolveSource(found, parts);
  };

/** Files of the chat protocol: as above, but the client library's own `file` object gets an answer of its own. */
const chatFileBlock: BlockReader = async (block, path, parts) => {
  for (const field of ['file', 'file_id'])
    if (block[field] !== undefined)
      throw unprocessable(`${path}.${field}`, 'is not supported: send the file as file_name and source');
  return sourceBlockOf('file')(block, path, parts);
};

/** `{type: image_url|input_image, image_url: {url} | string}` (§4.2). */
const chatImageBlock: BlockReader = async (block, path, parts) => {
  if (block['file_id'] !== undefined)
    throw unprocessable(`${path}.file_id`, 'is not supported: send the image as a data: URL');
  const image = block['image_url'];
  const isPlain = typeof image === 'string';
  const urlPath = isPlain ? `${path}.image_url` : `${path}.image_url.url`;
  const url = isPlain ? image : readObject(image, `${path}.image_url`)['url'];
  const text = await readSourceText(url, urlPath, parts.laid);
  return resolveSource({ media: 'image', name: null, text, path: urlPath, mimeType: null }, parts);
};

/** The blocks of each protocol. */
export const MESSAGES_BLOCKS: ReadonlyMap<string, BlockReader> = new Map([
  ['text', readTextBlock],
  ['image', sourceBlockOf('image')],
  ['file', sourceBlockOf('file')],
  ['document', sourceBlockOf('file')],
]);
export const CHAT_BLOCKS: ReadonlyMap<string, BlockReader> = new Map([
  ['text', readTextBlock],
  ['image_url', chatImageBlock],
  ['input_image', chatImageBlock],
  ['file', chatFileBlock],
  ['document', chatFileBlock],
]);

/** What the text of a source is decides how it is read, not the source's `type` (C3). */
const SOURCE_FORMS: readonly {
  readonly form: RegExp;
  readonly read: (source: Source, parts: ContentParts) => InputBlock | Promise<InputBlock>;
}[] = [
  { form: /^data:/i, read: readDataUrl },
  { form: /^https?:\/\//i, read: readAddress },
  { form: /^attachments\//, read: readStored },
];

async function resolveSource(source: Source, parts: ContentParts): Promise<InputBlock> {
  const read = SOURCE_FORMS.find(({ form }) => form.test(source.text.head))?.read;
  return read === undefined ? readInline(source, 0, parts) : read(source, parts);
}

async function readDataUrl(source: Source, parts: ContentParts): Promise<InputBlock> {
  const head = DATA_URL_HEAD.exec(source.text.head);
  const [mimeType = '', ...parameters] = (head?.[1] ?? '').split(';');
  if (head === null || parameters.pop()?.trim().toLowerCase() !== 'base64')
    throw unprocessable(source.path, 'must be a data URL of the form data:<media type>;base64,<data>');
  return readInline({ ...source, mimeType: readMediaType(mimeType, source.path) }, head[0].length, parts);
}

/** Images are fetched from where the address says; files are not. */
function readAddress({ media, name, text, path }: Source): InputBlock {
  if (media !== 'image')
    throw unprocessable(path, 'web addresses are not supported for files: send the file as base64');
  const url = text.whole;
  if (url === null || url.length > MAX_ADDRESS_CHARACTERS || !URL.canParse(url))
    throw unprocessable(path, `must be a valid web address of at most ${MAX_ADDRESS_CHARACTERS} characters`);
  return { type: 'address', media, name, url, field: path };
}

function readStored({ media, name, text, path }: Source): InputBlock {
  if (text.whole === null) throw unprocessable(path, `must be at most ${MAX_PATH} characters`);
  return { type: 'stored', media, name, path: readAttachmentPath(text.whole, path) };
}

async function readInline(source: Source, start: number, { maxUploadBytes }: ContentParts): Promise<InputBlock> {
  const { media, name, text, path, mimeType } = source;
  if (mimeType === null)
    throw unprocessable(path, 'must be a data: URL, an attachments/ path, or base64 beside a media_type');
  if (media === 'image' && !mimeType.startsWith('image/'))
    throw unprocessable(path, `must be an image, but its media type is ${mimeType}`);
  const imageType = media === 'image' ? mimeType : null;
  const bytes = await readUpload(text, start, { path, maxBytes: maxUploadBytes, imageType });
  return { type: 'upload', media, name, mimeType, bytes };
}

/** `type/subtype` in lower case; parameters are dropped. */
function readMediaType(value: JsonValue | undefined, path: string): string {
  const text = readString(value, path);
  const mimeType = text.slice(0, HEAD_CHARACTERS).split(';')[0]!.trim().toLowerCase();
  if (!MEDIA_TYPE.test(mimeType)) throw unprocessable(path, 'must name a media type such as image/png');
  return mimeType;
}
