// Points in time as people read them, in a time zone.

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
