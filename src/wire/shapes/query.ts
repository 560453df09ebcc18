// Values of a query or a header, which are texts (A8).
import { unprocessable } from '../../domain/errors.ts';
import { isTimeZone } from '../../domain/time-zone.ts';
import { object } from './composites.ts';
import type { DefaultedShape, OptionalShape, Shape } from './shape.ts';

const DIGITS = /^\d{1,16}$/;

interface DigitRules {
  readonly from: number;
  readonly to: number;
  readonly absent: number;
}

/** An integer in digits. Nothing but digits within the range is taken: nothing is clamped. */
export function digits({ from, to, absent }: DigitRules): DefaultedShape<number> {
  const isUnlimited = to === Number.MAX_SAFE_INTEGER;
  const words = isUnlimited ? `must be an integer from ${from}` : `must be an integer from ${from} to ${to}`;
  return {
    absence: 'default',
    admits: (value) => typeof value === 'string',
    read: (value, path) => {
      if (value === undefined) return absent;
      const found = typeof value === 'string' && DIGITS.test(value) ? Number(value) : Number.NaN;
      if (found >= from && found <= to) return found;
      throw unprocessable(path, words);
    },
    describe: () => ({ type: 'integer', minimum: from, ...(!isUnlimited && { maximum: to }), default: absent }),
  };
}

/** `true` or `false`; false when absent. */
export const flag: DefaultedShape<boolean> = {
  absence: 'default',
  admits: (value) => typeof value === 'string',
  read: (value, path) => {
    if (value === undefined || value === 'false') return false;
    if (value === 'true') return true;
    throw unprocessable(path, 'must be true or false');
  },
  describe: () => ({ type: 'boolean', default: false }),
};

/** `true` or `false`; either is meant when it is absent. */
export const optionalFlag: OptionalShape<boolean> = {
  absence: 'nothing',
  admits: flag.admits,
  read: flag.read,
  describe: () => ({ type: 'boolean' }),
};

/** A journal id after which a stream continues; 0 when absent. */
export const eventId: DefaultedShape<number> = {
  absence: 'default',
  admits: (value) => typeof value === 'string',
  read: (value, path) => {
    if (value === undefined) return 0;
    const id = typeof value === 'string' && DIGITS.test(value) ? Number(value) : Number.NaN;
    if (!Number.isSafeInteger(id)) throw unprocessable(path, 'must be an event id: an integer from 0');
    return id;
  },
  describe: () => ({ type: 'integer', minimum: 0, default: 0 }),
};

/** An id before which a page ends; all are meant when it is absent. */
export const optionalId = optionalFrom(1, 'must be an id: an integer from 1');

/** A `stream_seq` from which a page of one run's events begins; it begins with the first when it is absent. */
export const optionalStreamSeq = optionalFrom(1, 'must be an integer from 1');

/** The number of a version; all are meant when it is absent. */
export const optionalVersionNo = optionalFrom(1, 'must be an integer from 1');

/** A journal id after which events are read; those from now on are meant when it is absent. */
export const optionalEventId = optionalFrom(0, 'must be an event id: an integer from 0');

/** An integer, without a default. */
export function optionalFrom(from: 0 | 1, words: string): OptionalShape<number> {
  return {
    absence: 'nothing',
    admits: (value) => typeof value === 'string',
    read: (value, path) => {
      const found = typeof value === 'string' && DIGITS.test(value) ? Number(value) : Number.NaN;
      if (!Number.isSafeInteger(found) || found < from) throw unprocessable(path, words);
      return found;
    },
    describe: () => ({ type: 'integer', minimum: from }),
  };
}

/** Some words, separated by commas; all of them are meant when it is absent. */
export function optionalWords<const T extends string>(words: readonly T[]): OptionalShape<readonly T[], string> {
  return {
    absence: 'nothing',
    admits: (value) => typeof value === 'string',
    read: (value, path) => {
      const found = typeof value === 'string' ? value.split(',', words.length + 1) : [];
      const known = words.filter((word) => found.includes(word));
      if (found.length > 0 && known.length === found.length) return known;
      throw unprocessable(path, `must be one or more of ${words.join(', ')}, separated by commas`);
    },
    describe: () => ({ type: 'string', description: `One or more of ${words.join(', ')}, separated by commas.` }),
  };
}

/** A time zone by its IANA name. */
export function timeZone(absent: string): DefaultedShape<string> {
  return {
    absence: 'default',
    admits: (value) => typeof value === 'string',
    read: (value, path) => {
      if (value === undefined) return absent;
      if (typeof value === 'string' && isTimeZone(value)) return value;
      throw unprocessable(path, 'must be an IANA time zone such as Europe/Berlin');
    },
    describe: () => ({ type: 'string', default: absent }),
  };
}

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A point in time in ISO 8601, read as epoch ms: a date, which is its midnight in UTC, or a time with its offset. */
export const moment: Shape<number, string> = {
  admits: (value) => typeof value === 'string',
  read: (value, path) => {
    const at = typeof value === 'string' && MOMENT.test(value) ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(at)) return at;
    throw unprocessable(path, 'must be a date such as 2026-03-01 or a time such as 2026-03-01T12:00:00Z');
  },
  describe: () => ({ type: 'string', description: 'A date, or a time with its offset, in ISO 8601.' }),
};

const DATE = /^\d{4}-\d\d-\d\d$/;

/** A calendar day, `YYYY-MM-DD`; its zone is given elsewhere. */
export const calendarDate: Shape<string> = {
  admits: (value) => typeof value === 'string',
  read: (value, path) => {
    const at = typeof value === 'string' && DATE.test(value) ? Date.parse(value) : Number.NaN;
    // Some engines read 30 February as a day of March.
    if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(value as string)) return value as string;
    throw unprocessable(path, 'must be a date such as 2026-03-01');
  },
  describe: () => ({ type: 'string', format: 'date' }),
};

/** Where to rejoin a stream. */
export const followQuery = object({ after: eventId });
