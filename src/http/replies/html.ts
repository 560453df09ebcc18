// HTML by template: everything that is put into one is escaped, unless it is HTML itself.

type Part = string | Uint8Array;

/** What a template takes. A list is joined; null and false are left out. */
export type Value = string | number | Html | readonly Value[] | null | undefined | false;

/** HTML that is safe to send: made by `html`, or known to be safe. */
export class Html {
  readonly parts: readonly Part[];

  private constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  /** HTML that something else has made safe. Bytes are UTF-8; they are sent as they are, without being copied. */
  static safe(made: Part): Html {
    return new Html([made]);
  }

  static of(strings: TemplateStringsArray, values: readonly Value[]): Html {
    const parts: Part[] = [];
    for (const [index, text] of strings.entries()) {
      add(parts, text);
      if (index < values.length) addValue(parts, values[index]);
    }
    return new Html(parts);
  }

  /** For tests and for what is small. */
  toString(): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString())).join('');
  }
}

/** A template. A value in an attribute is safe between double quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return Html.of(strings, values);
}

function addValue(parts: Part[], value: Value): void {
  if (value === null || value === undefined || value === false) return;
  if (value instanceof Html) for (const part of value.parts) add(parts, part);
  else if (typeof value === 'object') for (const each of value) addValue(parts, each);
  else add(parts, escaped(String(value)));
}

function add(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
  else parts.push(part);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that show a name in another order than it has, as `invoice[U+202E]fdp.exe`. */
const REORDERING = /[\u202A-\u202E\u2066-\u2069]/g;

function escaped(text: string): string {
  const safe = text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
  return safe.replaceAll('\u0000', '\uFFFD').replace(REORDERING, '\uFFFD');
}
