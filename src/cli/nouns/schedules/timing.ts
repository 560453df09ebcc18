// `--cron`, `--every` and `--daily`: three ways to say when a task fires, of which cron can express all.
import { InvalidArgumentError, Option } from 'commander';
import { notEmpty } from '../../frame/arguments.ts';
import type { TypedOption } from '../../frame/options.ts';
import { parseDuration } from '../../../terminal/durations.ts';

/** When a task fires. */
interface Timing {
  readonly cron: string;
  /** Where no clock is changed, the pauses are the same throughout the year. */
  readonly isEvenInUtc: boolean;
}

const MINUTES_PER_HOUR = 60;
const HOURS_PER_DAY = 24;

const dividersOf = (count: number) =>
  Array.from({ length: count - 1 }, (_, index) => index + 1).filter((n) => count % n === 0);
const MINUTES = dividersOf(MINUTES_PER_HOUR);
const HOURS = dividersOf(HOURS_PER_DAY);

/** At most one of them is given. Each is a cron expression by now. */
const OPTIONS = [
  new Option('--cron <expression>', 'minute, hour, day of month, month, day of week, such as "0 7 * * 1-5"')
    .argParser(notEmpty)
    .conflicts(['every', 'daily']),
  new Option('--every <duration>', 'such as 15m, 2h or 1d, counted from midnight')
    .argParser(cronOfEvery)
    .conflicts('daily'),
  new Option('--daily <time>', 'each day at this time, such as 08:30').argParser(cronOfDaily),
];

/** The three. */
export const TIMING: TypedOption<Timing> = {
  options: OPTIONS,
  valueIn: ({ cron, every, daily }) => {
    const given = cron ?? every ?? daily;
    return typeof given === 'string' ? { cron: given, isEvenInUtc: every !== undefined } : undefined;
  },
};

/** Only what divides the hour or the day has the same pauses throughout. Throws InvalidArgumentError for anything else. */
export function cronOfEvery(text: string): string {
  const minutes = (parseDuration(text) ?? Number.NaN) / 60;
  const hours = minutes / MINUTES_PER_HOUR;
  if (minutes === 1) return '* * * * *';
  if (MINUTES.includes(minutes)) return `*/${minutes} * * * *`;
  if (hours === 1) return '0 * * * *';
  if (HOURS.includes(hours)) return `0 */${hours} * * *`;
  if (hours === HOURS_PER_DAY) return '0 0 * * *';
  throw new InvalidArgumentError(
    `It must divide the hour or the day: ${listOf(MINUTES, 'm')}, ${listOf(HOURS, 'h')} or 1d. For other times, use --cron.`,
  );
}

const listOf = (counts: readonly number[], unit: string) => counts.map((count) => `${count}${unit}`).join(', ');

/** Throws InvalidArgumentError for anything but a time of day. */
export function cronOfDaily(text: string): string {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hour === undefined) throw new InvalidArgumentError('It must be a time from 00:00 to 23:59, such as 08:30.');
  return `${Number(minute)} ${Number(hour)} * * *`;
}
