// A text as it is, with its escapes taken back, and without its white space; and where each place of that stands in it.

export interface View {
  readonly text: string;
  /** Whether white space was left out. */
  readonly isCompact: boolean;
  /** The place in the first text of a place in this one. Both may be the end. */
  origin(at: number): number;
}

/** How often escapes are taken back: a value in JSON, in an address, in JSON again, in a page. */
const MAX_PASSES = 4;

/** White space, characters that are not seen, and U+FFFD, as which a NUL is told. */
const BLANK = /[\s\u00ad\u200b-\u200d\u2060\ufffd]/;
const isBlankCode = Uint8Array.from({ length: 65_536 }, (_, code) => Number(BLANK.test(String.fromCharCode(code))));

export const isBlank = (text: string, at: number): boolean => isBlankCode[text.charCodeAt(at)] === 1;

/** The views that differ, the text itself first. Linear in the text. */
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

/** A text, and for each of its places the one in the first text; null when that is the same. */
interface Written {
  readonly text: string;
  readonly origins: Uint32Array | null;
}

const viewOf = ({ text, origins }: Written, isCompact: boolean): View => ({
  text,
  isCompact,
  origin: (at) => origins?.[at] ?? at,
});

/** What stands at a place: how many characters are read there, and the one that is written for them; -1 is none. */
interface Reading {
  length: number;
  code: number;
}

/** Reads every place of a text and writes what is found there; null when that is the text itself. */
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

/** Reads an escape of an address, of JSON or of HTML; what is none stands for itself. */
function unescape(text: string, at: number, into: Reading): void {
  const code = text.charCodeAt(at);
  into.length = 1;
  into.code = code;
  if (code === PERCENT) return readHex(text, at + 1, 2, into);
  if (code === BACKSLASH) return unescapeJson(text, at, into);
  if (code === AMPERSAND) return unescapeHtml(text, at, into);
}

/** Reads hex digits that end the escape which begins before them. Escapes of bytes beyond ASCII are left as they are. */
function readHex(text: string, from: number, digits: number, into: Reading): void {
  const hex = text.slice(from, from + digits);
  if (hex.length < digits || !/^[0-9a-fA-F]+$/.test(hex)) return;
  const value = Number.parseInt(hex, 16);
  if (digits === 2 && value > 0x7f) return;
  into.code = value;
  into.length = digits + (text.charCodeAt(from - 1) === PERCENT ? 1 : 2);
}

/** What stands for itself behind a backslash, and the letters of white space, by code. */
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
