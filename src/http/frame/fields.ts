// Strict readers of JSON fields: each gives the value, or a 422 that names the field by path (A4). Nothing is coerced.
import { unprocessable } from '../../domain/errors.ts';
import { isUuid } from '../../domain/ids.ts';
import { findTextFault, isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { isStandIn } from '../../wire/stand-in.ts';

/** Reads one field; `path` is its place in the request, such as `messages[2].content`. */
export type Reader<T> = (value: JsonValue | undefined, path: string) => T;

/** The field's value, or null when it is absent or null. */
export function optional<T>(value: JsonValue | undefined, path: string, read: Reader<T>): T | null {
  return value === undefined || value === null ? null : read(value, path);
}

export const readObject: Reader<JsonObject> = (value, path) => {
  if (!isJsonObject(value)) throw unprocessable(path, 'must be an object');
  return value;
};

export const readArray: Reader<JsonValue[]> = (value, path) => {
  if (!Array.isArray(value)) throw unprocessable(path, 'must be an array');
  return value;
};

export const readBoolean: Reader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw unprocessable(path, 'must be true or false');
  return value;
};

export const readNumber: Reader<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unprocessable(path, 'must be a number');
  return value;
};

export const readInteger: Reader<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw unprocessable(path, 'must be an integer');
  return value;
};

/** Any text that can be kept: no NUL, no lone surrogate (A5). */
export const readString: Reader<string> = (value, path) => {
  if (typeof value !== 'string') throw unprocessable(path, 'must be a string');
  // Who can take a long string asks for it where it lies.
  if (isStandIn(value)) throw unprocessable(path, 'is too long');
  const fault = findTextFault(value);
  if (fault !== undefined) throw unprocessable(path, `must not contain ${fault}`);
  return value;
};

/** A text of 1 to `max` characters, counted in code points. */
export function textOfAtMost(max: number): Reader<string> {
  return (value, path) => {
    const text = readString(value, path);
    if (text.length === 0) throw unprocessable(path, 'must not be empty');
    // A code point is at most two units, so only texts near the limit are counted.
    if (text.length > max && (text.length > max * 2 || Array.from(text).length > max))
      throw unprocessable(path, `must be at most ${max} characters`);
    return text;
  };
}

const CONTROL_CHARACTER = /\p{Cc}/u;

/** A text of 1 to `max` characters on one line, without control characters. */
export function lineOfAtMost(max: number): Reader<string> {
  const readText = textOfAtMost(max);
  return (value, path) => {
    const text = readText(value, path);
    if (CONTROL_CHARACTER.test(text)) throw unprocessable(path, 'must not contain control characters');
    return text;
  };
}

/** One of a closed list of words. */
export function oneOf<const T extends string>(words: readonly T[]): Reader<T> {
  return (value, path) => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw unprocessable(path, `must be one of ${words.join(', ')}`);
    return word;
  };
}

/** A UUID, in lower case. */
export const readUuid: Reader<string> = (value, path) => {
  if (typeof value !== 'string' || !isUuid(value)) throw unprocessable(path, 'must be a UUID string');
  return value.toLowerCase();
};
