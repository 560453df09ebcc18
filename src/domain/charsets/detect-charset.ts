// In which charset a text is written (M6): the one place that decides it.
import { isUtf8 as isValidUtf8 } from 'node:buffer';

/** What a text is read as: a label of the Encoding Standard, which `TextDecoder` takes, such as `utf-8` or `gb18030`. */
export type Charset = string;

/** Byte-order marks, the only certain sign. */
const MARKS: readonly (readonly [Charset, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** The charset that a byte-order mark at the start names, and the mark. */
export function markOf(bytes: Uint8Array): { readonly charset: Charset; readonly mark: Uint8Array } | undefined {
  const found = MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte));
  return found === undefined ? undefined : { charset: found[0], mark: Uint8Array.from(found[1]) };
}

/** The mark that a new file of a charset begins with: UTF-16 can't be told apart without one. */
export function markFor(charset: Charset): Uint8Array {
  const mark = charset === 'utf-8' ? undefined : MARKS.find(([marked]) => marked === charset)?.[1];
  return Uint8Array.from(mark ?? []);
}

/** Whether all of it is UTF-8. After other characters, one may be truncated at the end; alone, it is rather of another charset. */
export function isUtf8(bytes: Uint8Array): boolean {
  if (isValidUtf8(bytes)) return true;
  try {
    // `stream` tolerates a character that is truncated at the end.
    return MORE_THAN_ASCII.test(new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true }));
  } catch {
    return false;
  }
}

const MORE_THAN_ASCII = /\P{ASCII}/u;

/** As much as is looked at. The detector takes some 10 ms for it. */
const SAMPLE_BYTES = 32_768;
/** Bytes before and after what is not ASCII, in a line without an end. */
const LONGEST_LINE = 2_000;
const LINE_FEED = 0x0a;

/** By what the detector calls them. Supersets stand for what they contain. */
const LABELS: Readonly<Record<string, Charset>> = {
  big5hkscs: 'big5',
  cp874: 'windows-874',
  cp932: 'shift_jis',
  cp949: 'euc-kr',
  'euc-jis-2004': 'euc-jp',
  gb18030: 'gb18030',
  'koi8-r': 'koi8-r',
  'koi8-u': 'koi8-u',
  cp866: 'ibm866',
  'utf-16-be': 'utf-16be',
  'utf-16-le': 'utf-16le',
  'windows-1250': 'windows-1250',
  'windows-1251': 'windows-1251',
  'windows-1252': 'windows-1252',
  'windows-1253': 'windows-1253',
  'windows-1254': 'windows-1254',
  'windows-1255': 'windows-1255',
  'windows-1256': 'windows-1256',
  'windows-1257': 'windows-1257',
  'iso-8859-2': 'iso-8859-2',
  'iso-8859-5': 'iso-8859-5',
  'iso-8859-7': 'iso-8859-7',
  'iso-8859-15': 'iso-8859-15',
};
const CANDIDATES = Object.keys(LABELS);
/** Other names that it gives to candidates. */
const ALIASES: Readonly<Record<string, string>> = {
  big5: 'big5hkscs',
  'shift-jis': 'cp932',
  shift_jis: 'cp932',
  'euc-kr': 'cp949',
  'euc-jp': 'euc-jis-2004',
  'tis-620': 'cp874',
  ibm866: 'cp866',
  'iso8859-15': 'iso-8859-15',
  'iso-8859-1': 'windows-1252',
  'iso-8859-9': 'windows-1254',
};

/** The charset of a text whose characters have two bytes each, or more; undefined for any other. */
export function wideCharset(head: Uint8Array): Charset | undefined {
  const charset = markOf(head)?.charset ?? wideCharsetOf(head);
  return charset === 'utf-8' ? undefined : charset;
}

/**
 * The charset of a text: by its mark, UTF-8 wherever it is valid, UTF-16 by its zeros, or what its characters make likely.
 * Undefined for bytes that are no text. A character that is truncated at the end says nothing.
 */
export async function detectCharset(bytes: Uint8Array): Promise<Charset | undefined> {
  const certain = markOf(bytes)?.charset ?? wideCharsetOf(bytes);
  if (certain !== undefined) return certain;
  return isUtf8(bytes) ? 'utf-8' : detectLegacy(bytes);
}

async function detectLegacy(bytes: Uint8Array): Promise<Charset | undefined> {
  const sample = sampleOf(bytes);
  if (isDamagedUtf8(sample)) return 'utf-8';
  // It and its tables are loaded for the first text that needs them: 25 MB for each thread.
  const { detect } = await import('jschardet');
  const { encoding, confidence, mimeType } = detect(sample, { detectEncodings: CANDIDATES });
  if (confidence < LEAST_CONFIDENCE && isDense(sample)) return undefined;
  const name = encoding?.toLowerCase();
  const found = name === undefined ? undefined : LABELS[ALIASES[name] ?? name];
  if (found !== undefined && confidence < LEAST_CONFIDENCE && isWestern(found, sample)) return 'windows-1252';
  if (found !== undefined) return likelierOf(found, sample);
  // Too little to say: a name, a sign of a currency.
  return mimeType === null || mimeType.startsWith('text/') ? 'windows-1252' : undefined;
}

/** How sure the detector has to be of bytes that look like none of the texts of people, and of a few words in another script. */
const LEAST_CONFIDENCE = 0.1;
const DENSE_BYTES = 256;
const LEAST_PLAIN_SHARE = 0.02;

/** Whether many bytes follow each other with hardly a space, a digit or the end of a line between them. */
function isDense(sample: Uint8Array): boolean {
  let plain = 0;
  for (const byte of sample) if (byte < 0x80) plain += 1;
  return sample.length >= DENSE_BYTES && plain < sample.length * LEAST_PLAIN_SHARE;
}

const OTHER_SCRIPT = String.raw`[\p{sc=Cyrl}\p{sc=Grek}\p{sc=Hebr}\p{sc=Arab}\p{sc=Thai}]`;
/** Words of another script, and ones that have a letter of it beside ASCII: nobody's. */
const OTHER_WORD = new RegExp(`${OTHER_SCRIPT}{2}`, 'gu');
const MIXED_WORD = new RegExp(`[A-Za-z]${OTHER_SCRIPT}|${OTHER_SCRIPT}[A-Za-z]`, 'gu');
/** Polish writes ni before vowels: this is ñ. */
const ENYE = /ń[aeiouáéíóú]/i;
/** µ, m² and m³, which are letters elsewhere, also in words: as bytes. */
const UNITS = /\u00B5|(?<=m)[\u00B2\u00B3]/g;
const WESTERN_LETTER = /[^\P{L}\p{ASCII}ªº]/u;
const LETTER_IN_WORD = /[^\P{L}\p{ASCII}]\p{L}|\p{L}[^\P{L}\p{ASCII}]/u;

/** Whether a guess makes little sense where Windows-1252 does: it mixes scripts in words, or makes letters of signs and of ñ. */
function isWestern(found: Charset, sample: Uint8Array): boolean {
  const reading = new TextDecoder(found).decode(sample);
  const bytes = Buffer.from(sample).toString('latin1');
  // What Windows-1252 leaves empty is no text of it.
  if (MULTIBYTE.has(found) || /[\x81\x8D\x8F\x90\x9D]/.test(bytes)) return false;
  const count = (pattern: RegExp) => reading.match(pattern)?.length ?? 0;
  if (count(MIXED_WORD) > count(OTHER_WORD) || ENYE.test(reading)) return true;
  const rest = Buffer.from(bytes.replaceAll(UNITS, ' '), 'latin1');
  const hasSignsOnly = !WESTERN_LETTER.test(new TextDecoder('windows-1252').decode(rest));
  return hasSignsOnly && !LETTER_IN_WORD.test(new TextDecoder(found).decode(rest));
}

/** The charsets of Windows, which have what others lack, are the likelier ones where a text is the same in both. */
const LIKELIER: readonly Charset[] = ['windows-1252', 'windows-1250', 'windows-1253'];
const MULTIBYTE: ReadonlySet<Charset> = new Set([
  'big5',
  'shift_jis',
  'euc-kr',
  'euc-jp',
  'gb18030',
  'utf-16le',
  'utf-16be',
]);

function likelierOf(found: Charset, sample: Uint8Array): Charset {
  if (MULTIBYTE.has(found)) return found;
  const text = new TextDecoder(found).decode(sample);
  return LIKELIER.find((charset) => new TextDecoder(charset).decode(sample) === text) ?? found;
}

/** The lines that have more than ASCII: the others say nothing. Lines end with the same byte in all of these charsets. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  let [taken, at] = [0, 0];
  while (taken < SAMPLE_BYTES) {
    while (at < bytes.length && bytes[at]! < 0x80) at += 1;
    if (at >= bytes.length) break;
    const before = bytes.lastIndexOf(LINE_FEED, at) + 1;
    const feed = bytes.indexOf(LINE_FEED, at);
    const start = Math.max(before, at - LONGEST_LINE, 0);
    const end = Math.min(feed === -1 ? bytes.length : feed + 1, at + LONGEST_LINE);
    pieces.push(bytes.subarray(start, end));
    taken += end - start;
    at = end;
  }
  return Buffer.concat(pieces).subarray(0, SAMPLE_BYTES);
}

/** Whether it is UTF-8 but for a few bytes, as where somebody truncated texts before putting them together. */
function isDamagedUtf8(sample: Uint8Array): boolean {
  const text = new TextDecoder().decode(sample);
  const wrong = text.split('\uFFFD').length - 1;
  const right = text.match(/[^\p{ASCII}\uFFFD]/gu)?.length ?? 0;
  return wrong * 4 <= right;
}

const WIDE_SAMPLE_BYTES = 8_192;
const NO_TEXT = /[\p{Cn}\p{Co}\p{Cs}\uFFFD]|(?![\t\n\f\r])\p{Cc}/u;

/** Bytes with zeros that are UTF-16 without a mark: text in one byte order, and ASCII among it. Undefined for all others. */
export function wideCharsetOf(bytes: Uint8Array): Charset | undefined {
  const sample = bytes.subarray(0, Math.min(bytes.length & ~1, WIDE_SAMPLE_BYTES));
  if (sample.length < 4 || !sample.includes(0)) return undefined;
  const read = ['utf-16le', 'utf-16be'].map((charset) => {
    // A pair of surrogates may be split at the end.
    const text = new TextDecoder(charset).decode(sample, { stream: true });
    const plain = text.match(/[\t\r\n\u0020-\u007E]/g)?.length ?? 0;
    return { charset, plain: NO_TEXT.test(text) ? 0 : plain };
  });
  const [best] = read.toSorted((a, b) => b.plain - a.plain);
  return best !== undefined && best.plain > 0 ? best.charset : undefined;
}
