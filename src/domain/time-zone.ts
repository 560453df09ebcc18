// Days of time zones: where the day of a moment begins (§4.8), and where one of the calendar does (§4.7).

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

const DAY_MS = 86_400_000;
/** No zone is further ahead of UTC, nor further behind it. */
const QUARTERS_AHEAD = 15 * 4;
const QUARTERS_BEHIND = 13 * 4;
/** Years whose dates compare as texts, in which offsets are quarters of an hour. */
const [FIRST_YEAR, LAST_YEAR] = ['1973', '9999'];

/**
 * The first moment, in epoch ms, of a day of the calendar in a zone; `date` is `YYYY-MM-DD`. A day whose midnight was skipped
 * begins at the moment after, and one that a zone skipped as a whole where the next one does. Outside of the years 1973 to 9998
 * every day is taken as one of UTC.
 */
export function firstMomentOf(date: string, timeZone: string): number {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (date < FIRST_YEAR || date >= LAST_YEAR) return midnight;
  // The Swedish format is that of ISO 8601, which compares as text.
  const format = new Intl.DateTimeFormat('sv', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  let quarter = quarterOf(midnight) - QUARTERS_AHEAD;
  const last = quarterOf(midnight) + QUARTERS_BEHIND;
  while (quarter < last && format.format(quarter * QUARTER_MS) < date) quarter += 1;
  return quarter * QUARTER_MS;
}

/** The first moment after a day of the calendar in a zone. */
export function firstMomentAfter(date: string, timeZone: string): number {
  const next = Date.parse(`${date}T00:00:00Z`) + DAY_MS;
  // In the year 10000 a date has more digits.
  return date >= LAST_YEAR ? next : firstMomentOf(new Date(next).toISOString().slice(0, 10), timeZone);
}
