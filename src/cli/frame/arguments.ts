// Parsers of command-line arguments; invalid ones are reported before anything is sent.
import { InvalidArgumentError } from 'commander';
import { isoTime } from '../../domain/clock.ts';
import { isIdStart, isUuid } from '../../domain/ids.ts';
import { formatMilliseconds, parseDuration, parseMilliseconds } from '../../terminal/durations.ts';
import type { Io } from './io.ts';

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

/** Text that is not empty. */
export function notEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/** A time in ISO 8601: as given, or so long ago, such as `24h`. The daemon says what is wrong with any other. */
export function pastTime(text: string, { now }: Pick<Io, 'now'>): string {
  const seconds = parseDuration(text);
  return seconds === undefined ? notEmpty(text) : isoTime(now() - seconds * 1_000);
}

/** An integer within limits. */
export function integerIn({ from, to }: { readonly from: number; readonly to: number }): (text: string) => number {
  return (text) => {
    const found = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (found >= from && found <= to) return found;
    throw new InvalidArgumentError(
      to === Number.MAX_SAFE_INTEGER
        ? `It must be an integer from ${from}.`
        : `It must be an integer from ${from} to ${to}.`,
    );
  };
}

/** Milliseconds of a duration within limits, which are in milliseconds. */
export function durationIn({ from, to }: { readonly from: number; readonly to: number }): (text: string) => number {
  return (text) => {
    const found = parseMilliseconds(text);
    if (found !== undefined && found >= from && found <= to) return found;
    throw new InvalidArgumentError(
      `It must be a duration from ${formatMilliseconds(from)} to ${formatMilliseconds(to)}, such as 500ms or 10s.`,
    );
  };
}

/** Parses an option that can be given more than once: one of some words each time, or one word for all of them. */
export function oneOfEach<const T extends string>(
  words: readonly T[],
  all: string,
): (text: string, before?: readonly T[]) => readonly T[] {
  return (text, before = []) => {
    if (text === all) return words;
    const word = words.find((one) => one === text);
    if (word === undefined) throw new InvalidArgumentError(`Allowed choices are ${[...words, all].join(', ')}.`);
    return [...new Set([...before, word])];
  };
}
