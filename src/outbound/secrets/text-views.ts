// Views of a text: as it is, unescaped, and without white space; with the position of each character in the original.

export interface View {
  readonly text: string;
  /** Whether white space was removed. */
  readonly isCompact: boolean;
  /** The position in the original text of a position in this one. Both may be the end. */
  origin(at: number): number;
}

/** How often escapes are decoded: a value in JSON, in an address, in JSON again, in a page. */
const MAX_PASSES = 4;

/** White space, invisible characters, and U+FFFD, which replaces a NUL. */
const BLANK = /[\s\u00ad\u200b-\u200d\u2060\ufffd]/;
const isBlankCode = blankCodes();

export const isBlank = (text: string, at: number): boolean => isBlankCode[text.charCodeAt(at)] === 1;

/** By code unit, found in one text of them all: each thread builds the table when it starts. */
function blankCodes(): Uint8Array {
  const units = new Uint16Array(65_536);
  for (let code = 0; code < units.length; code += 1) units[code] = code;
  const all = Buffer.from(units.buffer).toString('utf16le');
  const codes = new Uint8Array(all.length);
  for (const { index } of all.matchAll(new RegExp(BLANK, 'g'))) codes[index] = 1;
  return codes;
}

/** The distinct views, the text itself first. Linear in the text. */
export function* viewsOf(text: string): Generator<View> {
  let last: Written = { text, origins: null };
  yield viewOf(last, false);
  for (let pass = 0; pass < MAX_PASSES && /[%\\&]/.test(last.text); pass += 1) {
    const next = rewrite(last, unescape);
    if (next === null) break;
    yield viewOf(next, false);
    last = next;
  }
  const compact = BLANK.test(last.text) ? rewrite(last, leaveBlanks) : null;
  if (compact !== null) yield viewOf(compact, true);
}

/** A text, and for each of its positions the one in the original; null when they are equal. */
interface Written {
  readonly text: string;
  readonly origins: Uint32Array | null;
}

const viewOf = ({ text, origins }: Written, isCompact: boolean): View => ({
  text,
  isCompact,
  origin: (at) => origins?.[at] ?? at,
});

/** The result of reading a position: how many characters to consume, and the one to write for them; -1 for none. */
interface Reading {
  length: number;
  code: number;
}

/** Reads every position of a text and writes the results; null when they equal the text. */
function rewrite({ text, origins }: Written, read: (text: string, at: number, into: Reading) => void): Written | null {
  const codes = new Uint16Array(text.length);
  const places = new Uint32Array(text.length + 1);
  const reading: Reading = { length: 1, code: 0 };
  let length = 0;
  for (let at = 0; at < text.length; at += reading.length) {
    read(text, at, reading);
    if (reading.code < 0) continue;
    codes[length] = reading.code;
    places[length] = origins?.[at] ?? at;
    length += 1;
  }
  if (length === text.length) return null;
  places[length] = origins?.[text.length] ?? text.length;
  const written = Buffer.from(codes.buffer, 0, length * 2).toString('utf16le');
  return { text: written, origins: places.subarray(0, length + 1) };
}

function leaveBlanks(text: string, at: number, into: Reading): void {
  const code = text.charCodeAt(at);
  into.length = 1;
  into.code = isBlankCode[code] === 1 ? -1 : code;
}

const [PERCENT, BACKSLASH, AMPERSAND] = [37, 92, 38];
const LONGEST_ENTITY = 10;

/** Decodes an escape of an address, of JSON or of HTML; any other character stands for itself. */
function unescape(text: string, at: number, into: Reading): void {
  const code = text.charCodeAt(at);
  into.length = 1;
  into.code = code;
  if (code === PERCENT) return readHex(text, at + 1, 2, into);
  if (code === BACKSLASH) return unescapeJson(text, at, into);
  if (code === AMPERSAND) return unescapeHtml(text, at, into);
}

/** Reads the hex digits at the end of an escape. Escapes of bytes beyond ASCII are unchanged. */
function readHex(text: string, from: number, digits: number, into: Reading): void {
  const hex = text.slice(from, from + digits);
  if (hex.length < digits || !/^[0-9a-fA-F]+$/.test(hex)) return;
  const value = Number.parseInt(hex, 16);
  if (digits === 2 && value > 0x7f) return;
  into.code = value;
  into.length = digits + (text.charCodeAt(from - 1) === PERCENT ? 1 : 2);
}

/** Characters after a backslash that stand for themselves, and the letters for white space, by code. */
const JSON_CODES = new Map(
  ['"', "'", '/', '\\', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'].map((one) => [
    one.charCodeAt(0),
    one.charCodeAt(one.length - 1),
  ]),
);
const [LETTER_U, LETTER_X] = [117, 120];

function unescapeJson(text: string, at: number, into: Reading): void {
  const letter = text.charCodeAt(at + 1);
  if (letter === LETTER_U) return readHex(text, at + 2, 4, into);
  if (letter === LETTER_X) return readHex(text, at + 2, 2, into);
  const plain = JSON_CODES.get(letter);
  if (plain === undefined) return;
  into.code = plain;
  into.length = 2;
}

const NAMED: Readonly<Record<string, string>> = Object.fromEntries(
  'Tab:\t NewLine:\n excl:! quot:" num:# dollar:$ percnt:% amp:& apos:\' lpar:( rpar:) ast:* plus:+ comma:, period:. sol:/ colon:: semi:; lt:< equals:= gt:> quest:? commat:@ lsqb:[ bsol:\\ rsqb:] Hat:^ lowbar:_ grave:` lcub:{ verbar:| rcub:}'
    .split(' ')
    .map((one) => [one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 1)]),
);

function unescapeHtml(text: string, at: number, into: Reading): void {
  const entity = text.slice(at + 1, at + 1 + LONGEST_ENTITY);
  const numeric = /^#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));?/.exec(entity);
  if (numeric !== null) {
    const value = numeric[1] === undefined ? Number(numeric[2]) : Number.parseInt(numeric[1], 16);
    if (value > 0xff_ff) return;
    into.code = value;
    into.length = numeric[0].length + 1;
    return;
  }
  const end = entity.indexOf(';');
  const name = entity.slice(0, Math.max(0, end));
  if (!Object.hasOwn(NAMED, name)) return;
  into.code = NAMED[name]!.charCodeAt(0);
  into.length = end + 2;
}
