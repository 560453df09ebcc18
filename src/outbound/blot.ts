// Blots secrets out of what a service answered, in the encodings in which services usually repeat them.
import { isBlank, type View, viewsOf } from './text-views.ts';

/** What stands where a secret stood. */
const MARK = '[credential]';
/** Shorter values are no secrets, and stand in too many words. */
const MIN_CHARACTERS = 6;
/** An escaped character is up to six long. What a cut has left of a secret is no longer than that. */
const LONGEST_ESCAPE = 6;

export interface Blotted {
  readonly text: string;
  /** How many places were blotted out. */
  readonly places: number;
}

/** `isCut`: the text was longer and was cut off, perhaps in the middle of a secret; then its end is left out as well. */
export type Blot = (text: string, isCut?: boolean) => Blotted;

/** A form of a secret that is looked for. A match is widened by characters that hold a few bits of the secret. */
interface Needle {
  readonly text: string;
  readonly before: number;
  readonly after: number;
  /** From one place where it stands to the next at which it can. */
  readonly period: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Makes the blot of some secrets. Each is found as it is, reversed, in hex, in Base64 of both alphabets wherever it
 * stands among other bytes; and all these in percent, JSON and HTML escapes, also mixed, one in another up to four
 * times, and with white space between. The cost is linear in the text, for each secret.
 */
export function makeBlot(secrets: readonly string[]): Blot {
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

/** Escapes that the views leave alone: characters beyond ASCII in percent escapes, and the plus of a form for a space. */
function foreignForms(secret: string): string[] {
  const escaped = secret.toWellFormed().replaceAll(/[^\0-\x7f]+/g, encodeURIComponent);
  const lower = escaped.replaceAll(/%[0-9A-F]{2}/g, (one) => one.toLowerCase());
  return [escaped, lower, secret.replaceAll(' ', '+')].filter((one) => one !== secret);
}

/** The characters of the Base64 text that no other byte has a part in, when `offset` bytes stand before in its triple. */
function base64At(bytes: Buffer, offset: number): Form {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replaceAll('=', '');
  const before = offset === 0 ? 0 : offset + 1;
  const after = (offset + bytes.length) % 3 === 0 ? 0 : 1;
  return { text: text.slice(before, text.length - after), before: offset === 0 ? 0 : 1, after };
}

/** The smallest step by which a text laid over itself fits again; its length when it never does. */
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

/** Where needles stand, as places of the original text. */
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

/** The text up to a limit, with a mark for each span. A span that reaches over the limit is one whole mark. */
function cover(text: string, spans: readonly Span[], limit: number): Blotted {
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

/** `Bearer abc`: what comes before the credential is no secret. */
const SCHEME = /^(basic|bearer|bot|token|apikey|api-key)\s+(\S+)$/i;

/** The secrets in the value of a header: the value and its words, or what follows a scheme, for Basic decoded as well. */
export function secretsIn(value: string): string[] {
  const [, scheme = '', credential = ''] = SCHEME.exec(value.trim()) ?? [];
  if (credential.length < MIN_CHARACTERS) return [value, ...value.split(/\s+/)];
  if (scheme.toLowerCase() !== 'basic') return [credential];
  const pair = Buffer.from(credential, 'base64').toString('utf8');
  return [credential, pair, pair.slice(pair.indexOf(':') + 1)];
}
