// Scans JSON text as it arrives, byte by byte: counts its values before anything walks it, and marks long strings.
import { ErrandError, unprocessable } from '../../domain/errors.ts';
import { MAX_JSON_DEPTH } from '../../domain/json.ts';
import { type JsonPosition, makeJsonPosition } from './json-position.ts';

/** Names that one object may have (A5). */
const MAX_NAMES = 1_000;

export interface ScanLimits {
  /** Values in the whole text: scalars, arrays and objects (A5). */
  readonly maxNodes: number;
  /** Strings with more bytes than this, as written in the text, are marked. */
  readonly longBytes: number;
  /** Of the text without its long strings. */
  readonly maxTextBytes: number;
}

/**
 * A position in a chunk. `long`: the string at this position exceeds the limit, and `length` bytes of it have passed, without
 * its opening quote. `end`: the closing quote of such a string.
 */
export type Mark =
  | { readonly kind: 'long'; readonly at: number; readonly length: number }
  | { readonly kind: 'end'; readonly at: number };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const HEX_DIGITS = 4;
const LETTER_U = 0x75;
const BRACE = 0x7b;
const ESCAPES: ReadonlySet<number> = new Set(Array.from('"\\/bfnrtu', (letter) => letter.charCodeAt(0)));

/** The kind of a byte outside of strings. */
const [SCALAR, BLANK, OPEN, CLOSE, COMMA, COLON] = [0, 1, 2, 3, 4, 5];
const CLASSES = new Uint8Array(256);
for (const [letters, kind] of [
  [' \t\r\n', BLANK],
  ['{[', OPEN],
  ['}]', CLOSE],
  [',', COMMA],
  [':', COLON],
] as const)
  for (const letter of letters) CLASSES[letter.charCodeAt(0)] = kind!;

/**
 * Makes a scanner of one text, which takes its chunks in order and returns the positions of long strings in each. It is not a
 * parser: it only ensures that `JSON.parse` gets no text that costs more than its size. Throws `unprocessable` or `too_large`
 * over a limit, with the path of the value that is over it, and `bad_request` for bytes that a string can't contain.
 */
export function makeJsonScan({ maxNodes, longBytes, maxTextBytes }: ScanLimits): (chunk: Uint8Array) => Mark[] {
  const place = makeJsonPosition();
  const counts = makeCounts(maxNodes, place);
  const string = makeStringScan(longBytes);
  let outside = 0;
  return (chunk) => {
    const marks: Mark[] = [];
    let held = string.held();
    for (let at = 0; at < chunk.length; ) {
      if (string.isOpen()) {
        const from = at;
        at = string.take(chunk, at, marks);
        if (place.awaitsName()) place.takeName(chunk, from, string.isOpen() ? at : at - 1);
        held = string.held();
      } else {
        const byte = chunk[at]!;
        counts.take(byte);
        if (byte === QUOTE) string.open();
        at += 1;
        outside += 1;
      }
      if (outside + held > maxTextBytes) throw tooMuchText(maxTextBytes, place.path());
    }
    return marks;
  };
}

/** The refusal of a text that is too long to be parsed. */
export function tooMuchText(limitBytes: number, field: string): ErrandError {
  const words = `${field}: here the body exceeds ${limitBytes} bytes in addition to its attachments and long texts.`;
  return new ErrandError('too_large', words, { details: { field } });
}

/** Counts values outside of strings. */
function makeCounts(maxNodes: number, place: JsonPosition): { take(byte: number): void } {
  const names = new Uint32Array(MAX_JSON_DEPTH + 1);
  let depth = 0;
  let nodes = 0;
  let inScalar = false;

  function open(byte: number): void {
    nodes += 1;
    requireFew();
    depth += 1;
    if (depth > MAX_JSON_DEPTH) throw unprocessable(place.path(), `must not nest deeper than ${MAX_JSON_DEPTH} levels`);
    names[depth] = 0;
    place.open(byte === BRACE);
  }

  function takeName(): void {
    // The preceding string was a name, not a value.
    nodes -= 1;
    names[depth]! += 1;
    if (names[depth]! > MAX_NAMES)
      throw unprocessable(place.pathAround(), `no object may have more than ${MAX_NAMES} names`);
    place.colon();
  }

  function requireFew(): void {
    if (nodes > maxNodes) throw unprocessable(place.path(), `the body must hold at most ${maxNodes} values`);
  }

  function endValue(isFollowed: boolean): void {
    requireFew();
    if (isFollowed) return place.comma();
    depth = Math.max(0, depth - 1);
    place.close();
  }

  return {
    take: (byte) => {
      const kind = CLASSES[byte];
      if (kind === SCALAR) {
        if (byte === QUOTE || !inScalar) nodes += 1;
        inScalar = byte !== QUOTE;
        return;
      }
      inScalar = false;
      if (kind === OPEN) open(byte);
      else if (kind === COLON) takeName();
      else if (kind !== BLANK) endValue(kind === COMMA);
    },
  };
}

interface StringScan {
  isOpen(): boolean;
  /** Bytes of all strings so far, without long ones. */
  held(): number;
  open(): void;
  /** Consumes the bytes of the open string from `from`, and returns where it stopped: after the string, or at the end. */
  take(chunk: Uint8Array, from: number, marks: Mark[]): number;
}

/** Follows one string at a time, and finds the long ones. */
function makeStringScan(longBytes: number): StringScan {
  let isOpen = false;
  let isLong = false;
  /** Bytes of the string so far, and of those before it that are not long. */
  let length = 0;
  let before = 0;
  /** What is missing of an escape: the letter after the backslash, then the digits of a `\u`. */
  let afterBackslash = false;
  let digits = 0;

  function takeEscaped(byte: number): void {
    if (digits > 0) {
      digits -= 1;
      if (!isHexDigit(byte)) throw malformed();
      return;
    }
    afterBackslash = false;
    if (!ESCAPES.has(byte)) throw malformed();
    if (byte === LETTER_U) digits = HEX_DIGITS;
  }

  return {
    isOpen: () => isOpen,
    held: () => (isOpen && !isLong ? before + length : before),
    open: () => {
      isOpen = true;
      length = 0;
    },
    take: (chunk, from, marks) => {
      let at = from;
      for (; at < chunk.length; at += 1) {
        const byte = chunk[at]!;
        if (afterBackslash || digits > 0) takeEscaped(byte);
        else if (byte === QUOTE) break;
        else if (byte === BACKSLASH) afterBackslash = true;
        else if (byte < FIRST_PRINTABLE) throw malformed();
      }
      length += at - from;
      if (!isLong && length > longBytes) {
        isLong = true;
        marks.push({ kind: 'long', at, length });
      }
      if (at === chunk.length) return at;
      if (isLong) marks.push({ kind: 'end', at });
      // With its closing quote.
      before += isLong ? 1 : length + 1;
      isLong = false;
      isOpen = false;
      return at + 1;
    },
  };
}

/** The refusal of invalid JSON. */
export function malformed(cause?: unknown): ErrandError {
  return new ErrandError('bad_request', 'The body is not valid JSON.', { cause });
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}
