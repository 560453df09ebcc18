// Shapes of texts, numbers and words (A4, A5).
import { isoTime } from '../../domain/clock.ts';
import { unprocessable } from '../../domain/errors.ts';
import { isUuid } from '../../domain/ids.ts';
import { findTextFault } from '../../domain/json.ts';
import type { JsonSchema, Shape } from './shape.ts';
import { isStandIn, requireNoStandIn } from './stand-in.ts';

const isString = (value: unknown) => typeof value === 'string';

/** A text that can be stored: no NUL, no lone surrogate (A5). */
export const string: Shape<string> = {
  admits: isString,
  read: (value, path) => {
    if (typeof value !== 'string') throw unprocessable(path, 'must be a string');
    // Who can take a long string has a `longString`.
    requireNoStandIn(value, path);
    const fault = findTextFault(value);
    if (fault !== undefined) throw unprocessable(path, `must not contain ${fault}`);
    return value;
  },
  describe: () => ({ type: 'string' }),
};

/** As `string`, or the stand-in of a long one that was spooled: it is checked where it is read. */
export const longString: Shape<string> = {
  ...string,
  read: (value, path) => (typeof value === 'string' && isStandIn(value) ? value : string.read(value, path)),
};

interface TextRules {
  /** In code points. */
  readonly max: number;
  readonly min?: number;
}

/** A text of `min` to `max` characters, counted in code points. */
export function text({ max, min = 1 }: TextRules): Shape<string> {
  return {
    admits: isString,
    read: (value, path) => {
      const found = string.read(value, path);
      if (found.length === 0 && min > 0) throw unprocessable(path, 'must not be empty');
      // A code point is at most two units, so only texts near a limit are counted.
      if (found.length < min * 2 && Array.from(found).length < min)
        throw unprocessable(path, `must be at least ${min} characters`);
      if (found.length > max && (found.length > max * 2 || Array.from(found).length > max))
        throw unprocessable(path, `must be at most ${max} characters`);
      return found;
    },
    describe: () => ({ type: 'string', minLength: min, maxLength: max }),
  };
}

const CONTROL_CHARACTER = /\p{Cc}/u;

/** As `text`, on one line: without control characters. */
export function line(rules: TextRules): Shape<string> {
  const whole = text(rules);
  return {
    admits: isString,
    read: (value, path) => {
      const found = whole.read(value, path);
      if (CONTROL_CHARACTER.test(found)) throw unprocessable(path, 'must not contain control characters');
      return found;
    },
    describe: (components) => ({ ...whole.describe(components), pattern: '^\\P{Cc}*$' }),
  };
}

/** A line that fits a pattern, which has the flag `u`. `words`: the error for any other line. */
export function matching(pattern: RegExp, words: string): Shape<string> {
  return {
    admits: isString,
    read: (value, path) => {
      const found = anyLine.read(value, path);
      if (!pattern.test(found)) throw unprocessable(path, words);
      return found;
    },
    describe: () => ({ type: 'string', pattern: pattern.source }),
  };
}

const anyLine = line({ max: Number.MAX_SAFE_INTEGER });

/** A UUID, read in lower case. */
export const uuid: Shape<string> = {
  admits: isString,
  read: (value, path) => {
    if (typeof value !== 'string' || !isUuid(value)) throw unprocessable(path, 'must be a UUID string');
    return value.toLowerCase();
  },
  describe: () => ({ type: 'string', format: 'uuid' }),
};

/** A point in time in ISO 8601, as replies have it; epoch ms in the domain. */
export const time: Shape<string, string, number> = {
  admits: string.admits,
  read: string.read,
  describe: () => ({ type: 'string', format: 'date-time' }),
  render: isoTime,
};

export const boolean: Shape<boolean> = {
  admits: (value) => typeof value === 'boolean',
  read: (value, path) => {
    if (typeof value !== 'boolean') throw unprocessable(path, 'must be true or false');
    return value;
  },
  describe: () => ({ type: 'boolean' }),
};

interface Range {
  readonly from?: number;
  readonly to?: number;
  /** What is counted, for the words of a refusal. */
  readonly unit?: string;
}

export const number = numberOf('number', 'a number', (value) => Number.isFinite(value));
export const integer = numberOf('integer', 'an integer', (value) => Number.isSafeInteger(value));

function numberOf(type: 'number' | 'integer', word: string, isOne: (value: unknown) => boolean) {
  return ({ from, to, unit }: Range = {}): Shape<number> => ({
    admits: (value) => typeof value === 'number',
    read: (value, path) => {
      if (typeof value !== 'number' || !isOne(value)) throw unprocessable(path, `must be ${word}`);
      if ((from !== undefined && value < from) || (to !== undefined && value > to))
        throw unprocessable(path, wordsOf({ from, to, unit } as Range));
      return value;
    },
    describe: () => ({ type, ...rangeOf({ from, to } as Range) }),
  });
}

function wordsOf({ from, to, unit }: Range): string {
  if (from === 0 && to === undefined) return 'must not be negative';
  const limits = to === undefined ? `at least ${from}` : from === undefined ? `at most ${to}` : `from ${from} to ${to}`;
  return unit === undefined ? `must be ${limits}` : `must be ${limits} ${unit}`;
}

function rangeOf({ from, to }: Range): JsonSchema {
  return { ...(from !== undefined && { minimum: from }), ...(to !== undefined && { maximum: to }) };
}

/** One of a closed list of words. */
export function oneOf<const T extends string>(words: readonly T[]): Shape<T> {
  return {
    admits: isString,
    read: (value, path) => {
      const word = words.find((candidate) => candidate === value);
      if (word === undefined) throw unprocessable(path, `must be one of ${words.join(', ')}`);
      return word;
    },
    describe: () => (words.length === 1 ? { type: 'string', const: words[0] } : { type: 'string', enum: [...words] }),
  };
}

/** A value that is always the same. */
export function constant<const T extends string | number | boolean | null>(only: T): Shape<T> {
  return {
    admits: (value) => value === only,
    read: (value, path) => {
      if (value !== only) throw unprocessable(path, `must be ${JSON.stringify(only)}`);
      return only;
    },
    describe: () => (only === null ? { type: 'null' } : { type: typeof only, const: only }),
  };
}
