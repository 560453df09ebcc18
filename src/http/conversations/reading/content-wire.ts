// Turns the content blocks of a user's message, in each protocol's forms, into input blocks (§4.2, §4.3, C3).
import { unprocessable } from '../../../domain/errors.ts';
import { mediaTypeOf } from '../../../files/media-type.ts';
import type { InputBlock } from '../../../operations/turns/turn.ts';
import type { ChatBlock } from '../../../wire/chat/request.ts';
import { mediaType } from '../../../wire/conversations/content.ts';
import type { MessagesBlock } from '../../../wire/messages/request.ts';
import type { ResponsesBlock } from '../../../wire/responses/request.ts';
import { line } from '../../../wire/shapes/scalars.ts';
import type { SpooledStrings } from '../../body/spooled-strings.ts';
import { joined, readPlainUpload, readSourceText, readUpload, type SourceText } from './source-text.ts';
import type { TurnText } from './turn-text.ts';

/** What the content of one request is read with. */
export interface ContentParts {
  /** Largest decoded attachment (`MAX_UPLOAD_SIZE_MB`). */
  readonly maxUploadBytes: number;
  /** Of one turn. */
  readonly maxTextBytes: number;
  /** Long strings of the body. */
  readonly spooled: SpooledStrings;
  /** Reads texts, and counts them. */
  readonly text: TurnText;
}

/** A block of a request in any protocol. */
export type Block = MessagesBlock | ChatBlock | ResponsesBlock;
type BlockOf<T extends Block['type']> = Extract<Block, { readonly type: T }>;
type BlockReader<B, R = InputBlock> = (block: B, path: string, parts: ContentParts) => Promise<R>;
/** What the user says by itself: any block but calls of tools, and what came of them. */
export type SaidBlock = Exclude<Block, { readonly type: 'tool_use' | 'tool_result' }>;

type Media = 'image' | 'file';

/** A source whose text has not been examined. */
interface Source {
  readonly media: Media;
  readonly name: string | null;
  readonly text: SourceText;
  /** Path of the text in the request. */
  readonly path: string;
  readonly mimeType: string | null;
}

const DATA_URL_HEAD = /^data:([^,]*),/i;
const MAX_ADDRESS_CHARACTERS = 8192;
const MAX_NAME = 255;
const MAX_PATH = 1024;
const storedPath = line({ max: MAX_PATH });

/** The Anthropic client calls it a title. */
const nameOf = ({ file_name: name, title }: Pick<BlockOf<'image'>, 'file_name' | 'title'>): string | null =>
  name ?? title?.slice(0, MAX_NAME) ?? null;

const readText: BlockReader<BlockOf<'text' | 'input_text'>> = async ({ text }, path, parts) => ({
  type: 'text',
  text: await parts.text.read(text, `${path}.text`),
});

/** `{type: image|file|document, file_name, source}`. A source of type `text` is what it says; any other is read by its text. */
const fileReader =
  (media: Media): BlockReader<Omit<BlockOf<'image'>, 'type'>> =>
  async (block, path, parts) => {
    const { source } = block;
    const [field, text] = 'data' in source ? ['data', source.data] : ['url', source.url];
    const textPath = `${path}.source.${field}`;
    const found: Source = {
      media,
      name: nameOf(block),
      text: await readSourceText(text, textPath, parts.spooled),
      path: textPath,
      mimeType: source.media_type ?? null,
    };
    return media === 'file' && source.type === 'text' && 'data' in source
      ? readPlain(found, parts)
      : resolveSource(found, parts);
  };

/** The same, or `{type: file, file: {filename, file_data}}`. */
const readFile: BlockReader<BlockOf<'file'>> = async (block, path, parts) => {
  if ('file' in block && block.file != null) return readFileData(block.file, `${path}.file`, parts);
  const { source } = block;
  if (source === undefined) throw unprocessable(`${path}.source`, 'must be an object');
  return fileReader('file')({ ...block, source }, path, parts);
};

/** `{type: image_url|input_image, image_url: {url} | string}` (§4.2). */
const readImageUrl: BlockReader<BlockOf<'image_url' | 'input_image'>> = async ({ image_url: image }, path, parts) => {
  const [url, urlPath] =
    typeof image === 'string' ? [image, `${path}.image_url`] : [image.url, `${path}.image_url.url`];
  const text = await readSourceText(url, urlPath, parts.spooled);
  return resolveSource({ media: 'image', name: null, text, path: urlPath, mimeType: null }, parts);
};

/** `{filename, file_data}`, as OpenAI has it. Of Base64 alone, the name says the media type. */
const readFileData = async (
  { filename = null, file_data: data }: Pick<BlockOf<'input_file'>, 'filename' | 'file_data'>,
  path: string,
  parts: ContentParts,
): Promise<InputBlock> => {
  const textPath = `${path}.file_data`;
  const text = await readSourceText(data, textPath, parts.spooled);
  const mimeType = filename === null ? null : mediaTypeOf(filename);
  return resolveSource({ media: 'file', name: filename, text, path: textPath, mimeType }, parts);
};

/** `{type: document, title, context, source}`. The context is text behind the document. */
const readDocument: BlockReader<BlockOf<'document'>, InputBlock[]> = async (block, path, parts) => {
  const document = await readDocumentSource(block, path, parts);
  if (block.context == null || block.context === '') return document;
  const context = await parts.text.read(block.context, `${path}.context`);
  return [...document, { type: 'text', text: `About ${nameOf(block) || 'the document'}: ${context}` }];
};

/** One that is made of texts and images is a file of the texts, and the images. */
const readDocumentSource: BlockReader<BlockOf<'document'>, InputBlock[]> = async (block, path, parts) => {
  const { source } = block;
  if (!('content' in source)) return [await fileReader('file')({ ...block, source }, path, parts)];
  const name = nameOf(block);
  const contentPath = `${path}.source.content`;
  if (typeof source.content === 'string') {
    const text = await readSourceText(source.content, contentPath, parts.spooled);
    return [await readPlain({ media: 'file', name, text, path: contentPath, mimeType: null }, parts)];
  }
  const texts: SourceText[] = [];
  const images: InputBlock[] = [];
  for (const [index, one] of source.content.entries()) {
    const place = `${contentPath}[${index}]`;
    if (one.type === 'text') texts.push(await readSourceText(one.text, `${place}.text`, parts.spooled));
    else images.push(await fileReader('image')(one, place, parts));
  }
  if (texts.length === 0) return images;
  const file: Source = { media: 'file', name, text: joined(texts), path: contentPath, mimeType: null };
  return [await readPlain(file, parts), ...images];
};

/** What a search has found, in the words of the turn. */
const readSearchResult: BlockReader<BlockOf<'search_result'>> = async ({ title, source, content }, path, parts) => {
  const read = (text: string, place: string) => parts.text.read(text, `${path}.${place}`);
  const head = `${await read(title, 'title')} (${await read(source, 'source')})`;
  const passages: string[] = [];
  for (const [index, { text }] of content.entries()) passages.push(await read(text, `content[${index}].text`));
  return { type: 'text', text: [head, ...passages].join('\n\n') };
};

const READERS: { readonly [T in SaidBlock['type']]: BlockReader<BlockOf<T>, InputBlock | InputBlock[]> } = {
  text: readText,
  search_result: readSearchResult,
  input_text: readText,
  image: fileReader('image'),
  file: readFile,
  document: readDocument,
  image_url: readImageUrl,
  input_image: readImageUrl,
  input_file: readFileData,
};

/** Reads one block; `path` is its place in the request. Throws `unprocessable` and `too_large`. */
export async function readBlock(block: SaidBlock, path: string, parts: ContentParts): Promise<InputBlock[]> {
  const read = await (READERS[block.type] as BlockReader<SaidBlock, InputBlock | InputBlock[]>)(block, path, parts);
  return Array.isArray(read) ? read : [read];
}

/** The text of a source decides how it is read, not the source's `type` (C3). */
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
  return readInline({ ...source, mimeType: mediaType.read(mimeType, source.path) }, head[0].length, parts);
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
  return { type: 'stored', media, name, path: storedPath.read(text.whole, path) };
}

async function readPlain(
  { media, name, text, path, mimeType }: Source,
  { maxUploadBytes }: ContentParts,
): Promise<InputBlock> {
  const bytes = await readPlainUpload(text, { path, maxBytes: maxUploadBytes });
  return { type: 'upload', media, name, mimeType: mimeType ?? 'text/plain', bytes };
}

async function readInline(source: Source, start: number, { maxUploadBytes }: ContentParts): Promise<InputBlock> {
  const { media, name, text, path, mimeType } = source;
  if (mimeType === null)
    throw unprocessable(path, 'must be a data: URL, an attachments/ path, or base64 with a media_type');
  if (media === 'image' && !mimeType.startsWith('image/'))
    throw unprocessable(path, `must be an image, but its media type is ${mimeType}`);
  const imageType = media === 'image' ? mimeType : null;
  const bytes = await readUpload(text, start, { path, maxBytes: maxUploadBytes, imageType });
  return { type: 'upload', media, name, mimeType, bytes };
}
