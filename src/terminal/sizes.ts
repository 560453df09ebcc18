// Sizes of files as people read them.

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
