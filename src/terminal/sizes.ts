// Sizes as people read them.
import { MB } from '../domain/byte-units.ts';

const UNITS = ['KB', 'MB', 'GB', 'TB'] as const;

/** `512 B`, `1.5 KB`, `20 MB`: two digits, or all before the decimal point. 1 KB is 1,000 bytes. */
export function readableSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let amount = bytes / 1000;
  let unit = 0;
  // A value that would round to 1000 uses the next unit.
  for (; amount >= 999.5 && unit < UNITS.length - 1; unit += 1) amount /= 1000;
  return `${amount < 9.95 ? amount.toFixed(1) : Math.round(amount)} ${UNITS[unit]}`;
}

/** In the megabytes of settings, 1,048,576 bytes each: `3.2 MB`, `12,345 MB`. */
export function inMegabytes(bytes: number): string {
  const digits = bytes < 10 * MB ? 1 : 0;
  const amount = (bytes / MB).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${amount} MB`;
}
