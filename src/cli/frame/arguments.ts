// Parsers of command-line arguments; invalid ones are reported before anything is sent.
import { InvalidArgumentError } from 'commander';
import { isIdStart, isUuid } from '../../domain/ids.ts';
import { parseDuration } from './durations.ts';

/** Seconds of a duration such as `30d`. */
export function duration(text: string): number {
  const seconds = parseDuration(text);
  if (seconds === undefined) throw new InvalidArgumentError('It must be a duration such as 1s, 15m, 12h or 30d.');
  return seconds;
}

/** An amount of US dollars. */
export function dollars(text: string): number {
  const amount = /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(amount)) throw new InvalidArgumentError('It must be an amount such as 250 or 99.50.');
  return amount;
}

/** Clears a field on the command line. Commander would turn a null into '', so null comes only at the end. */
export const NONE = 'none';

/** An amount, or `none`. */
export function dollarsOrNone(text: string): number | typeof NONE {
  return text === NONE ? NONE : dollars(text);
}

/** The new value of a field: null for `none`. */
export function orNull<T>(value: T | typeof NONE): T | null {
  return value === NONE ? null : value;
}

/** A UUID. */
export function uuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text;
}

/** An id, or its first characters, which the daemon completes. */
export function idOrStart(text: string): string {
  if (!isIdStart(text)) throw new InvalidArgumentError('It must be an id, or at least its first 4 characters.');
  return text.toLowerCase();
}

/** Maximum number of rows of a list. */
export function rowLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= 1 && limit <= 500) return limit;
  throw new InvalidArgumentError('It must be a number from 1 to 500.');
}

/** Text that is not empty. */
export function notEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}
