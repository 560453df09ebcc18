// The start of a text or of a JSON object, cut to a number of bytes in UTF-8.
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';

/** As much of the start of a text as fits, in whole characters; the text itself when all of it fits. */
export function firstBytes(text: string, bytes: number): string {
  // A unit of UTF-16 is at most three bytes, and at least one.
  if (text.length * 3 <= bytes) return text.toWellFormed();
  const start = Buffer.from(text.slice(0, bytes + 1));
  if (start.length <= bytes) return text.toWellFormed();
  let end = bytes;
  while ((start[end]! & 0xc0) === 0x80) end -= 1;
  return start.toString('utf8', 0, end);
}

/** An object whose JSON has at most a number of bytes, and whether anything was cut off. */
export interface Excerpt {
  readonly value: JsonObject;
  readonly isCut: boolean;
}

/** As much of an object as fits: first members first, long texts by their start. Looks at no more than it takes. */
export function excerptOf(object: JsonObject, bytes: number): Excerpt {
  let left = bytes;
  let isCut = false;

  /** What fits of a value; undefined when nothing does. */
  function take(value: JsonValue): JsonValue | undefined {
    if (typeof value === 'string') return takeText(value);
    const taken = Array.isArray(value) ? takeArray(value) : isJsonObject(value) ? takeObject(value) : value;
    if (taken === value) left -= JSON.stringify(value).length;
    return left < 0 ? undefined : taken;
  }

  function takeText(text: string): string | undefined {
    left -= 2;
    let start = firstBytes(text, Math.max(left, 0));
    // Escapes take more bytes than characters.
    for (let size = sizeOf(start); size > left && start !== ''; size = sizeOf(start))
      start = firstBytes(start, shorter(Buffer.byteLength(start), left / size));
    isCut ||= start.length < text.length;
    left -= sizeOf(start);
    return left < 0 || (start === '' && text !== '') ? undefined : start;
  }

  const takeArray = (value: JsonValue[]): JsonValue[] =>
    takeMembers(value.entries(), () => 0).map(([, member]) => member);

  const takeObject = (value: JsonObject): JsonObject =>
    Object.fromEntries(takeMembers(Object.entries(value), (name) => sizeOf(name) + 3));

  function takeMembers<Name>(members: Iterable<[Name, JsonValue]>, sizeOfName: (name: Name) => number) {
    const taken: [Name, JsonValue][] = [];
    left -= 2;
    if (left < 0) return taken;
    for (const [name, member] of members) {
      left -= sizeOfName(name) + (taken.length > 0 ? 1 : 0);
      const found = left < 0 ? undefined : take(member);
      if (found === undefined) {
        // Keep what fits so far, and take nothing more.
        isCut = true;
        left = 0;
        break;
      }
      taken.push([name, found]);
    }
    return taken;
  }

  const value = takeObject(object);
  return { value: isCut ? value : object, isCut };
}

/** A part of a size, and less than it in any case. */
const shorter = (size: number, part: number) => Math.min(size - 1, Math.floor(size * part));

/** Bytes of a text within the quotes of JSON. */
function sizeOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
