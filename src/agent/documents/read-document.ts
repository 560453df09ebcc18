// Extracts the text of a document, by its bytes and its declared type.
import { extname } from 'node:path';
import { MB } from '../../domain/byte-units.ts';
import type { DocumentText } from '../port/services.ts';
import { type DecodedText, decodeText } from '../../domain/charsets/charset-text.ts';
import { isUtf8 } from '../../domain/charsets/detect-charset.ts';
import { storableText } from '../../domain/text-pieces.ts';
import { binaryKind } from '../tools/text.ts';

export interface Document {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly mimeType: string;
}

/** Larger documents are not read. */
export const MAX_DOCUMENT_BYTES = 64 * MB;
export const TOO_LARGE: DocumentText = { fault: 'is too large to be read' };
/** Characters of a document that are kept. */
const MAX_CHARACTERS = 200_000;
/** Readers of PDF allow something before the mark. */
const PDF_HEAD_BYTES = 1024;
const PDF_MARK = '%PDF-';
/** The mark at the start, perhaps after a byte-order mark, white space and zeros. */
const PDF_START = /^(?:\xef\xbb\xbf)?[\s\0]*%PDF-/;

type Kind = 'pdf' | 'word' | 'sheet' | 'page';
/** Extracts a document's text, if it has any. Stops after `limit` characters; throws what its library throws. */
type Reader = (bytes: Uint8Array, limit: number) => Promise<string | DecodedText | undefined>;

/** Each library is loaded when the first document needs it. */
const READERS: Readonly<Record<Kind, Reader>> = {
  pdf: async (bytes, limit) => (await import('./pdf-text.ts')).readPdf(bytes, limit),
  word: async (bytes) => (await import('./word-text.ts')).readWord(bytes),
  sheet: async (bytes, limit) => (await import('./sheet-text.ts')).readSheets(bytes, limit),
  page: async (bytes) => (await import('./page-text.ts')).readHtml(bytes),
};

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const CLAIMS: Readonly<Record<string, Kind>> = {
  'application/pdf': 'pdf',
  '.pdf': 'pdf',
  [WORD]: 'word',
  '.docx': 'word',
  [SHEET]: 'sheet',
  '.xlsx': 'sheet',
  'text/html': 'page',
  'application/xhtml+xml': 'page',
  '.html': 'page',
  '.htm': 'page',
};
const IN_WORDS: Readonly<Record<Kind, string>> = {
  pdf: 'a PDF document',
  word: 'a Word document',
  sheet: 'an Excel workbook',
  page: 'a web page',
};

/** The text of a document, or why it has none, in words that follow its name. Never throws for a damaged document. */
export async function readDocument(document: Document): Promise<DocumentText> {
  const kind = kindOf(document);
  if (kind === 'text') {
    const decoded = await decodeText(document.bytes);
    if (decoded !== undefined) return textOr(decoded.text, 'is empty', decoded.charset);
  }
  if (kind === 'other' || kind === 'text') {
    const claim = claimOf(document);
    if (claim !== undefined) return { fault: `could not be read: it is not ${IN_WORDS[claim]}` };
    return { fault: `contains no readable text (${binaryKind(document.bytes) ?? 'unknown kind'})` };
  }
  try {
    const read = (await READERS[kind](document.bytes, MAX_CHARACTERS)) ?? '';
    return typeof read === 'string' ? textOr(read, NO_TEXT[kind]) : textOr(read.text, NO_TEXT[kind], read.charset);
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') return { fault: 'is protected by a password' };
    return { fault: `could not be read: it is damaged, or not ${IN_WORDS[kind]}` };
  }
}

const NO_TEXT: Readonly<Record<Kind, string>> = {
  pdf: 'contains no text; its pages may be images',
  word: 'contains no text',
  sheet: 'contains no cells',
  page: 'contains no text',
};

function textOr(text: string, fault: string, charset = 'utf-8'): DocumentText {
  const clean = storableText(text);
  if (clean.trim() === '') return { fault };
  const note = charset === 'utf-8' ? '' : `\n[The file is not UTF-8; it was read as ${charset}.]`;
  if (clean.length <= MAX_CHARACTERS) return { text: clean + note };
  const start = clean.slice(0, MAX_CHARACTERS).toWellFormed();
  return { text: `${start}\n[The text continues; it was read up to here.]${note}` };
}

/** The bytes take precedence over the declared type. */
function kindOf(document: Document): Kind | 'text' | 'other' {
  const bytes = Buffer.from(document.bytes.buffer, document.bytes.byteOffset, document.bytes.byteLength);
  const claim = claimOf(document);
  const head = bytes.toString('latin1', 0, PDF_HEAD_BYTES);
  if (PDF_START.test(head) || (claim === 'pdf' && head.includes(PDF_MARK))) return 'pdf';
  const isZip = bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'));
  // A zip contains file names uncompressed.
  if (isZip && bytes.includes('word/document')) return 'word';
  if (isZip && bytes.includes('xl/workbook')) return 'sheet';
  // A text may mention the mark.
  if (binaryKind(bytes) !== undefined) return !isZip && head.includes(PDF_MARK) ? 'pdf' : 'other';
  if (claim === 'page') return 'page';
  return claim === undefined || isUtf8(bytes) ? 'text' : 'other';
}

function claimOf({ mimeType, name }: Document): Kind | undefined {
  return CLAIMS[mimeType] ?? CLAIMS[extname(name).toLowerCase()];
}
