// The text of an attachment's source in a request: held when it is short, stored in a file when it is long.
import { MB } from '../../../domain/byte-units.ts';
import { ErrandError, unprocessable } from '../../../domain/errors.ts';
import { makeImageHead } from '../../../agent/conversation/image-facts.ts';
import { imageFault } from '../../../operations/turns/accepting/require-image.ts';
import type { UploadBytes } from '../../../operations/turns/turn.ts';
import { decodeBase64 } from '../../../wire/shapes/base64.ts';
import { requireNoStandIn } from '../../../wire/shapes/stand-in.ts';
import type { SpooledStrings } from '../../body/spooled-strings.ts';

/** Characters of a source that decide what it is. */
const HEAD_CHARACTERS = 400;

export interface SourceText {
  /** Its first characters. */
  readonly head: string;
  /** All of it; null when it is long. */
  readonly whole: string | null;
  /** Its characters from `start` on, piece by piece, as often as asked. */
  from(start: number): AsyncGenerator<string>;
}

/** Reads the text of a source. Throws `unprocessable` for an empty one. */
export async function readSourceText(text: string, path: string, spooled: SpooledStrings): Promise<SourceText> {
  const found = spooled.find(text);
  if (found !== undefined) {
    const from = (start: number) => skip(found.pieces(), start);
    return { head: await firstCharacters(from(0)), whole: null, from };
  }
  requireNoStandIn(text, path);
  if (text === '') throw unprocessable(path, 'must not be empty');
  const from = async function* from(start: number) {
    yield text.slice(start);
  };
  return { head: text.slice(0, HEAD_CHARACTERS), whole: text, from };
}

/** Several texts as one, with an empty line between them. It is read from its beginning. */
export function joined(texts: readonly SourceText[]): SourceText {
  const from = async function* () {
    for (const [index, text] of texts.entries()) {
      if (index > 0) yield '\n\n';
      yield* text.from(0);
    }
  };
  return { head: texts[0]?.head ?? '', whole: null, from };
}

async function* skip(pieces: AsyncIterable<string>, count: number): AsyncGenerator<string> {
  let left = count;
  for await (const piece of pieces) {
    yield left === 0 ? piece : piece.slice(left);
    left = Math.max(0, left - piece.length);
  }
}

async function firstCharacters(pieces: AsyncIterable<string>): Promise<string> {
  let head = '';
  for await (const piece of pieces) {
    head += piece.slice(0, HEAD_CHARACTERS);
    if (head.length >= HEAD_CHARACTERS) break;
  }
  return head.slice(0, HEAD_CHARACTERS);
}

/** The requirements of decoded base64. */
export interface UploadRules {
  readonly path: string;
  readonly maxBytes: number;
  /** Images have to be what this media type says; null for other files. */
  readonly imageType: string | null;
}

/**
 * The bytes of a base64 source, from `start`. They are decoded here once to be checked, and again when they are stored: so they
 * are never held. Throws `unprocessable` and `too_large`.
 */
export async function readUpload(source: SourceText, start: number, rules: UploadRules): Promise<UploadBytes> {
  const { path, maxBytes, imageType } = rules;
  const pieces = () => decodePieces(source.from(start), path);
  const head = makeImageHead();
  let size = 0;
  for await (const bytes of pieces()) {
    size += bytes.length;
    if (size > maxBytes) throw tooLarge(path, maxBytes);
    if (imageType !== null) head.take(bytes);
  }
  if (size === 0) throw unprocessable(path, 'must not be empty');
  const fault = imageType === null ? null : imageFault(head.bytes(), imageType);
  if (fault !== null) throw unprocessable(path, fault);
  return { size, pieces };
}

/** A source that is the file's text itself, with the same rules, but for images. */
export async function readPlainUpload(source: SourceText, rules: Omit<UploadRules, 'imageType'>): Promise<UploadBytes> {
  const { path, maxBytes } = rules;
  const pieces = () => encodePieces(source.from(0));
  let size = 0;
  for await (const bytes of pieces()) {
    size += bytes.length;
    if (size > maxBytes) throw tooLarge(path, maxBytes);
  }
  if (size === 0) throw unprocessable(path, 'must not be empty');
  return { size, pieces };
}

/** In UTF-8. Two halves of a character may come in two pieces. */
async function* encodePieces(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let kept = '';
  for await (const text of texts) {
    const all = kept + text;
    const cut = /[\uD800-\uDBFF]$/.test(all) ? all.length - 1 : all.length;
    kept = all.slice(cut);
    if (cut > 0) yield Buffer.from(all.slice(0, cut));
  }
  if (kept !== '') yield Buffer.from(kept);
}

const GROUP = 4;

/** Decodes strict base64. Only the last group of four may be padded, so it is always decoded by itself. */
async function* decodePieces(texts: AsyncIterable<string>, path: string): AsyncGenerator<Buffer> {
  let kept = '';
  for await (const text of texts) {
    const all = kept + text;
    const cut = Math.max(0, all.length - 1 - ((all.length - 1) % GROUP));
    kept = all.slice(cut);
    const bytes = decodeBase64(all.slice(0, cut), path);
    if (bytes.length !== (cut / GROUP) * 3) throw unprocessable(path, 'must be standard Base64');
    if (bytes.length > 0) yield bytes;
  }
  const last = decodeBase64(kept, path);
  if (last.length > 0) yield last;
}

function tooLarge(path: string, maxBytes: number): ErrandError {
  const megabytes = maxBytes / MB;
  return new ErrandError('too_large', `${path}: must be at most ${megabytes} MB`, { details: { field: path } });
}
