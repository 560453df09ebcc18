// Reads the content blocks of a user's message, in both protocols' forms, into input blocks (§4.2, §4.3, C3).
import { ErrandError, unprocessable } from '../domain/errors.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import { imageFault } from '../operations/require-image.ts';
import type { InputBlock } from '../operations/turn.ts';
import { lineOfAtMost, optional, readBase64, readObject, readString, textOfAtMost } from './fields.ts';

/** What bounds the attachments of one request. */
export interface ContentLimits {
  /** Largest decoded attachment (`MAX_UPLOAD_SIZE_MB`). */
  readonly maxUploadBytes: number;
}

/** Reads one kind of block. */
export type BlockReader = (block: JsonObject, path: string, limits: ContentLimits) => InputBlock;

type Media = 'image' | 'file';

/** A source before it is known what its text is. */
interface Source {
  readonly media: Media;
  readonly name: string | null;
  readonly text: string;
  /** Path of the text in the request. */
  readonly path: string;
  readonly mimeType: string | null;
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
const DATA_URL_HEAD = /^data:([^,]*),/i;
const DATA_URL_HEAD_CHARACTERS = 400;
const MAX_ADDRESS_CHARACTERS = 8192;
const MAX_NAME = 255;
const readName = lineOfAtMost(MAX_NAME);
const readAttachmentPath = lineOfAtMost(1024);
const readSourceText = textOfAtMost(Number.MAX_SAFE_INTEGER);

const readTextBlock: BlockReader = (block, path) => ({ type: 'text', text: readString(block['text'], `${path}.text`) });

/** `{type: image|file|document, file_name, source: {type, media_type, data}}` (§4.3). */
const sourceBlockOf =
  (media: Media): BlockReader =>
  (block, path, limits) => {
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
      text: readSourceText(source[field], textPath),
      path: textPath,
      mimeType: optional(source['media_type'], `${path}.source.media_type`, readMediaType),
    };
    return resolveSource(found, limits);
  };

/** Files of the chat protocol: as above, but the client library's own `file` object gets an answer of its own. */
const chatFileBlock: BlockReader = (block, path, limits) => {
  for (const field of ['file', 'file_id'])
    if (block[field] !== undefined)
      throw unprocessable(`${path}.${field}`, 'is not supported: send the file as file_name and source');
  return sourceBlockOf('file')(block, path, limits);
};

/** `{type: image_url|input_image, image_url: {url} | string}` (§4.2). */
const chatImageBlock: BlockReader = (block, path, limits) => {
  if (block['file_id'] !== undefined)
    throw unprocessable(`${path}.file_id`, 'is not supported: send the image as a data: URL');
  const image = block['image_url'];
  const isPlain = typeof image === 'string';
  const urlPath = isPlain ? `${path}.image_url` : `${path}.image_url.url`;
  const text = readSourceText(isPlain ? image : readObject(image, `${path}.image_url`)['url'], urlPath);
  return resolveSource({ media: 'image', name: null, text, path: urlPath, mimeType: null }, limits);
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
  readonly read: (source: Source, limits: ContentLimits) => InputBlock;
}[] = [
  { form: /^data:/i, read: readDataUrl },
  { form: /^https?:\/\//i, read: readAddress },
  { form: /^attachments\//, read: readStored },
];

function resolveSource(source: Source, limits: ContentLimits): InputBlock {
  const start = source.text.slice(0, 16);
  const read = SOURCE_FORMS.find(({ form }) => form.test(start))?.read ?? readInline;
  return read(source, limits);
}

function readDataUrl(source: Source, limits: ContentLimits): InputBlock {
  const head = DATA_URL_HEAD.exec(source.text.slice(0, DATA_URL_HEAD_CHARACTERS));
  const [mimeType = '', ...parameters] = (head?.[1] ?? '').split(';');
  if (head === null || parameters.pop()?.trim().toLowerCase() !== 'base64')
    throw unprocessable(source.path, 'must be a data URL of the form data:<media type>;base64,<data>');
  const text = source.text.slice(head[0].length);
  return readInline({ ...source, text, mimeType: readMediaType(mimeType, source.path) }, limits);
}

/** Images are fetched from where the address says; files are not. */
function readAddress({ media, name, text, path }: Source): InputBlock {
  if (media !== 'image')
    throw unprocessable(path, 'web addresses are not supported for files: send the file as base64');
  if (text.length > MAX_ADDRESS_CHARACTERS || !URL.canParse(text))
    throw unprocessable(path, `must be a valid web address of at most ${MAX_ADDRESS_CHARACTERS} characters`);
  return { type: 'address', media, name, url: text, field: path };
}

function readStored({ media, name, text, path }: Source): InputBlock {
  return { type: 'stored', media, name, path: readAttachmentPath(text, path) };
}

function readInline({ media, name, text, path, mimeType }: Source, limits: ContentLimits): InputBlock {
  if (mimeType === null)
    throw unprocessable(path, 'must be a data: URL, an attachments/ path, or base64 beside a media_type');
  if (media === 'image' && !mimeType.startsWith('image/'))
    throw unprocessable(path, `must be an image, but its media type is ${mimeType}`);
  // Judged by length first: what is too large is not decoded.
  if (Math.floor((text.length * 3) / 4) - 2 > limits.maxUploadBytes) throw tooLarge(path, limits);
  const bytes = readBase64(text, path);
  if (bytes.length === 0) throw unprocessable(path, 'must not be empty');
  if (bytes.length > limits.maxUploadBytes) throw tooLarge(path, limits);
  const fault = media === 'image' ? imageFault(bytes, mimeType) : null;
  if (fault !== null) throw unprocessable(path, fault);
  return { type: 'upload', media, name, mimeType, bytes };
}

/** `type/subtype` in lower case; parameters are dropped. */
function readMediaType(value: JsonValue | undefined, path: string): string {
  const text = readString(value, path);
  const mimeType = text.slice(0, DATA_URL_HEAD_CHARACTERS).split(';')[0]!.trim().toLowerCase();
  if (!MEDIA_TYPE.test(mimeType)) throw unprocessable(path, 'must name a media type such as image/png');
  return mimeType;
}

function tooLarge(path: string, { maxUploadBytes }: ContentLimits): ErrandError {
  const megabytes = maxUploadBytes / (1024 * 1024);
  return new ErrandError('too_large', `${path}: must be at most ${megabytes} MB`, { details: { field: path } });
}
