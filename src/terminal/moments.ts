// Points in time as people read them: how long ago, how long until then, and when in a time zone.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Anything further away is shown as a date. */
const LONGEST_MS = 60 * DAY_MS;
/** Clocks commonly differ by this much. */
const NOW_MS = 1000;

const UNITS = [
  { name: 'd', ms: DAY_MS },
  { name: 'h', ms: HOUR_MS },
  { name: 'min', ms: MINUTE_MS },
  { name: 's', ms: 1000 },
] as const;

/** `3 min ago`, `in 2 h`, `now`; a date such as `2026-01-31` when it is over 60 days away. Both are epoch ms. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < NOW_MS) return 'now';
  if (distance > LONGEST_MS) return new Date(at).toISOString().slice(0, 10);
  const { name, ms } = UNITS.find((unit) => distance >= unit.ms)!;
  const amount = `${Math.floor(distance / ms)} ${name}`;
  return at < now ? `${amount} ago` : `in ${amount}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(tz: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${tz} ${Object.keys(options).join(' ')}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { timeZone: tz, ...options });
  formats.set(key, format);
  return format;
}

const TIME = { hour: '2-digit', minute: '2-digit' } as const;

/** Time of day: `12:04:59`, or `12:04`. */
export function clockOf(at: number, tz: string, withSeconds = true): string {
  return formatOf(tz, withSeconds ? { ...TIME, second: '2-digit' } : TIME).format(at);
}

/** Day and time: `1 Mar 2026 12:04`. */
export function momentOf(at: number, tz: string): string {
  const day = formatOf(tz, { day: 'numeric', month: 'short', year: 'numeric' }).format(at);
  return `${day} ${clockOf(at, tz, false)}`;
}
