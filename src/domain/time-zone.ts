// Days of time zones (§4.8): where the day of a moment begins.

/** Days of every zone begin at a multiple of it since 1970. */
export const QUARTER_MS = 900_000;

/** The quarter of an hour that a moment is in, counted since 1970. */
export function quarterOf(at: number): number {
  return Math.floor(at / QUARTER_MS);
}

/** Whether it is an IANA name. An offset such as +08:00 isn't, though Intl takes it. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** A day has at most 25 hours, and a zone may have moved over the date line. */
const QUARTERS_OF_LONGEST_DAY = 50 * 4;

/**
 * The first quarter of the zone's day that a moment is in. A day begins with its first moment, so one whose midnight was
 * skipped begins at the moment after, and one that has two midnights at the first.
 */
export function dayStartQuarter(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: 'numeric', day: 'numeric' });
  const dateOf = (quarter: number) => format.format(quarter * QUARTER_MS);
  let last = quarterOf(at);
  const today = dateOf(last);
  // `before` is of another day, `last` of this one.
  let before = last - QUARTERS_OF_LONGEST_DAY;
  while (last - before > 1) {
    const middle = Math.floor((before + last) / 2);
    if (dateOf(middle) === today) last = middle;
    else before = middle;
  }
  return last;
}
