// Redacts secrets in what a service sent, in the encodings in which services usually repeat them.
import { isBlank, type View, viewsOf } from './text-views.ts';

/** Replaces a secret. */
const MARK = '[credential]';
/** Shorter values are not secrets, and are part of too many words. */
const MIN_CHARACTERS = 6;
/** An escaped character has up to six characters. The remainder of a truncated secret is no longer than that. */
const LONGEST_ESCAPE = 6;

export interface Redacted {
  readonly text: string;
  /** How many places were redacted. */
  readonly places: number;
}

/** `isCut`: the text was truncated, perhaps in the middle of a secret; then its end is removed as well. */
export type Redactor = (text: string, isCut?: boolean) => Redacted;

/** A form of a secret to search for. A match is extended by characters that contain a few bits of the secret. */
interface Needle {
  readonly text: string;
  readonly before: number;
  readonly after: number;
  /** Distance from one match to the next possible one. */
  readonly period: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Makes the redactor of some secrets. It finds each one as it is, reversed, in hex, and in Base64 of both alphabets at any
 * offset among other bytes; and all these in percent, JSON and HTML escapes, also mixed, nested up to four times, and with
 * white space inserted. The cost is linear in the text, for each secret.
 */
export function makeRedactor(secrets: readonly string[]): Redactor {
  const all = [...new Set(secrets)].filter(({ length }) => length >= MIN_CHARACTERS);
  const needles = unique(all.flatMap(needlesOf));
  const longest = Math.max(0, ...needles.map(({ text }) => text.length));
  return (text, isCut = false) => {
    if (needles.length === 0) return { text, places: 0 };
    const spans = merged([...viewsOf(text)].flatMap((view) => find(view, needles, text)));
    return cover(text, spans, isCut ? Math.max(0, text.length - longest * LONGEST_ESCAPE) : text.length);
  };
}

type Form = Omit<Needle, 'period'>;

function needlesOf(secret: string): Needle[] {
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const plain = [secret, Array.from(secret).toReversed().join(''), hex, hex.toUpperCase(), ...foreignForms(secret)];
  const encoded = [0, 1, 2].map((offset) => base64At(bytes, offset));
  const urlSafe = encoded.map((one) => ({ ...one, text: one.text.replaceAll('+', '-').replaceAll('/', '_') }));
  return [...plain.map((text) => ({ text, before: 0, after: 0 })), ...encoded, ...urlSafe]
    .filter(({ text }) => text.length >= MIN_CHARACTERS)
    .map((form) => ({ ...form, period: periodOf(form.text) }));
}

/** Forms that the views do not decode: percent escapes of characters beyond ASCII, and the plus of a form for a space. */
function foreignForms(secret: string): string[] {
  const escaped = secret.toWellFormed().replaceAll(/[^\0-\x7f]+/g, encodeURIComponent);
  const lower = escaped.replaceAll(/%[0-9A-F]{2}/g, (one) => one.toLowerCase());
  return [escaped, lower, secret.replaceAll(' ', '+')].filter((one) => one !== secret);
}

/** The characters of the Base64 text that depend on no other byte, when `offset` bytes precede in its triple. */
function base64At(bytes: Buffer, offset: number): Form {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replaceAll('=', '');
  const before = offset === 0 ? 0 : offset + 1;
  const after = (offset + bytes.length) % 3 === 0 ? 0 : 1;
  return { text: text.slice(before, text.length - after), before: offset === 0 ? 0 : 1, after };
}

/** The smallest shift at which a text matches itself; its length when there is none. */
function periodOf(text: string): number {
  const fits = [0];
  for (let at = 1; at < text.length; at += 1) {
    let length = fits[at - 1]!;
    while (length > 0 && text[at] !== text[length]) length = fits[length - 1]!;
    fits.push(text[at] === text[length] ? length + 1 : 0);
  }
  return text.length - fits.at(-1)!;
}

function unique(needles: readonly Needle[]): Needle[] {
  return [...new Map(needles.map((needle) => [JSON.stringify(needle), needle])).values()];
}

/** Where needles match, as positions in the original text. */
function find({ text, origin, isCompact }: View, needles: readonly Needle[], original: string): Span[] {
  const spans: Span[] = [];
  for (const needle of needles) {
    if (isCompact && /\s/.test(needle.text)) continue;
    const { text: wanted, before, after, period } = needle;
    let [start, end] = [0, 0];
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + period)) {
      const from = origin(Math.max(0, at - before));
      if (end > 0 && from > end) spans.push({ start, end });
      if (end === 0 || from > end) start = from;
      end = origin(Math.min(text.length, at + wanted.length + after));
      while (end > start && isBlank(original, end - 1)) end -= 1;
    }
    if (end > 0) spans.push({ start, end });
  }
  return spans;
}

function merged(spans: readonly Span[]): Span[] {
  const result: { start: number; end: number }[] = [];
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}

/** The text up to a limit, with a mark for each span. A span that crosses the limit is one whole mark. */
function cover(text: string, spans: readonly Span[], limit: number): Redacted {
  if (spans.length === 0 && limit === text.length) return { text, places: 0 };
  const pieces: string[] = [];
  let from = 0;
  let places = 0;
  for (const { start, end } of spans) {
    if (start >= limit) break;
    pieces.push(text.slice(from, start), MARK);
    from = end;
    places += 1;
  }
  pieces.push(text.slice(from, Math.max(from, limit)));
  return { text: pieces.join('').toWellFormed(), places };
}

/** `Bearer abc`: what precedes the credential isn't secret. */
const SCHEME = /^(basic|bearer|bot|token|apikey|api-key)\s+(\S+)$/i;

/** The passwords in addresses such as `postgres://user:word@host`, as they are written and decoded. */
export function passwordsIn(text: string): string[] {
  const written = [...text.matchAll(/:\/\/[^/\s:@]*:([^/\s]+)@/g)].map(([, password]) => password!);
  return [...new Set(written.flatMap((password) => [password, decoded(password)]))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The secrets in the value of a header or of a variable: the value and its words, or what follows a scheme, for Basic also decoded; and
 * the passwords in its addresses, which a server may repeat without the rest.
 */
export function secretsIn(value: string): string[] {
  const [, scheme = '', credential = ''] = SCHEME.exec(value.trim()) ?? [];
  if (credential.length < MIN_CHARACTERS) return [value, ...value.split(/\s+/), ...passwordsIn(value)];
  if (scheme.toLowerCase() !== 'basic') return [credential];
  const pair = Buffer.from(credential, 'base64').toString('utf8');
  return [credential, pair, pair.slice(pair.indexOf(':') + 1)];
}
