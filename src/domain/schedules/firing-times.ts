// When a cron expression fires, in the wall time of its zone (I1, I8).
import { Cron } from 'croner';
import { isTimeZone } from '../time-zone.ts';
import { needsBothDays } from './day-fields.ts';
import { TASK_LIMITS } from './task.ts';

/** What is wrong with an expression or its time zone, as the rest of a sentence; null when it fires at some time after `now`. */
export function cronFault(
  cron: string,
  timezone: string,
  now: number,
): { at: 'cron' | 'timezone'; mustBe: string } | null {
  if (!isTimeZone(timezone)) return { at: 'timezone', mustBe: 'must be an IANA time zone, such as Europe/Zurich' };
  // The library also takes nicknames, dates and seconds.
  if (cron.length > TASK_LIMITS.cron || cron.trim().split(/\s+/).length !== 5) {
    return { at: 'cron', mustBe: 'must have five fields: minute, hour, day of month, month and day of week' };
  }
  try {
    if (nextFirings(cron, timezone, now, 1).length > 0) return null;
    return { at: 'cron', mustBe: `must fire at least once within ${YEARS_AHEAD} years` };
  } catch {
    return { at: 'cron', mustBe: `must have five valid fields: ${wrongFieldOf(cron)}` };
  }
}

const FIELDS = [
  ['minute', '0 to 59'],
  ['hour', '0 to 23'],
  ['day of month', '1 to 31 or L'],
  ['month', '1 to 12 or JAN to DEC'],
  ['day of week', '0 to 7 or SUN to SAT'],
] as const;

/** The first field that is wrong, in words: those of the library count some fields from 0. */
function wrongFieldOf(cron: string): string {
  for (const [index, field] of cron.trim().split(/\s+/).entries()) {
    const [name, values] = FIELDS[index]!;
    try {
      open(['*', '*', '*', '*', '*'].with(index, field).join(' '), '*');
    } catch {
      return `the ${name} is ${values}, a list, a range or a step such as */2, not ${field}`;
    }
  }
  return cron;
}

/** How far times are looked for: the library continues for 400 years, which takes as long as thousands of other requests. */
const YEARS_AHEAD = 30;
/** Of the library. */
const LAST_YEAR = 9_999;

/** Whether minute or hour have a wildcard or a step: it fires as time passes, whatever the clocks do, as with Debian's cron. */
const followsElapsedTime = (cron: string): boolean => /^\S*[*?/]|^\S+\s+\S*[*?/]/.test(cron.trim());

/**
 * The next times after a moment, in epoch milliseconds; fewer when there are no more within 30 years. Of fixed times, those that a
 * clock change skips fire at the change, once, and those that it repeats fire the first time only. An expression with a wildcard or a
 * step in minute or hour fires whenever the clocks show one of its times. The expression must have no fault.
 */
export function nextFirings(cron: string, timezone: string, after: number, count: number): number[] {
  const zone = makeZone(timezone);
  const momentsOf = followsElapsedTime(cron) ? zone.momentsOf : (wall: number) => [zone.firstAt(wall)];
  let wall: number | undefined = after + Math.min(...zone.offsetsAround(after));
  const year = new Date(wall).getUTCFullYear();
  const pattern = open(cron, `${year}-${Math.min(year + YEARS_AHEAD, LAST_YEAR)}`);
  const times: number[] = [];
  /** Moments of wall times so far; where the clocks go back, a later wall time may come before them. */
  let waiting: number[] = [];
  const takeUntil = (end: number) => {
    for (const at of waiting.filter((one) => one <= end).toSorted((a, b) => a - b))
      if (at > (times.at(-1) ?? after)) times.push(at);
    waiting = waiting.filter((one) => one > end);
  };
  while (times.length < count) {
    wall = pattern.nextRun(new Date(wall))?.getTime();
    if (wall === undefined) {
      takeUntil(Infinity);
      break;
    }
    const [one, other] = zone.offsetsAround(wall);
    takeUntil(wall - Math.max(one, other));
    waiting.push(...momentsOf(wall));
    if (one === other) takeUntil(Infinity);
  }
  return times.slice(0, count);
}

// Wall times are computed as if they were UTC, where no clock changes: the library itself leaves out some skipped times.
// With an offset instead of a zone, it asks nothing of Intl. Paused: it sets no timer.
function open(cron: string, years: string): Cron {
  const domAndDow = needsBothDays(cron);
  return new Cron(`0 ${cron.trim()} ${years}`, { utcOffset: 0, mode: '7-part', paused: true, domAndDow });
}

/** A day that a zone leaves out or repeats, and the largest offset. */
const AROUND_MS = 40 * 3_600_000;

const DIGITS = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
  hourCycle: 'h23',
} as const;

/** Making a format costs more than all else that computes a time. Few zones are in use. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 100;

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-US', { ...DIGITS, timeZone });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(timeZone, format);
  return format;
}

/** A zone's clocks: a wall time is what they show, as if it were UTC, in milliseconds. */
function makeZone(timeZone: string) {
  const format = formatIn(timeZone);

  function offsetAt(at: number): number {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year, month, day, hour, minute, second } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
  }

  /** The offsets before and after a change that is near; the same twice where there is none. */
  const offsetsAround = (wall: number): readonly [number, number] => [
    offsetAt(wall - AROUND_MS),
    offsetAt(wall + AROUND_MS),
  ];

  /** The moments at which the clocks show a wall time: two where a change repeats it, none where a change skips it. */
  function momentsOf(wall: number): number[] {
    const offsets = [...new Set(offsetsAround(wall))];
    return offsets.filter((offset) => offsetAt(wall - offset) === offset).map((offset) => wall - offset);
  }

  /** The first moment at which the clocks show a wall time; the moment of the change that skips it. */
  function firstAt(wall: number): number {
    const shown = momentsOf(wall);
    if (shown.length > 0) return Math.min(...shown);
    const offsets = offsetsAround(wall);
    let [before, after] = [wall - Math.max(...offsets), wall - Math.min(...offsets)];
    const later = offsetAt(after);
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(middle) === later) after = middle;
      else before = middle;
    }
    return after;
  }

  return { offsetsAround, momentsOf, firstAt };
}
