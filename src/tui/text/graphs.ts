// Bars and small graphs.

/** How a share of a width is filled: `[filled, rest]` in columns. Nothing but 0 is empty, nothing but 1 is full. */
export function barOf(share: number, width: number): readonly [number, number] {
  const clamped = Math.min(1, Math.max(0, share));
  const rounded = Math.round(clamped * width);
  const filled = clamped > 0 && clamped < 1 ? Math.min(width - 1, Math.max(1, rounded)) : rounded;
  return [filled, width - filled];
}

const LEVELS = '▁▂▃▄▅▆▇█';

/** A graph of one character a value, the highest of them full; blank where there is none. */
export function sparkline(values: readonly (number | null)[]): string {
  const highest = Math.max(...values.map((value) => value ?? 0), 1);
  return values
    .map((value) => (value === null ? ' ' : LEVELS[Math.max(1, Math.ceil((value / highest) * LEVELS.length)) - 1]))
    .join('');
}

/** Sums neighbours so that `count` values are left. A value on the border of two is shared, so that what is even stays even. */
export function gather(values: readonly (number | null)[], count: number): (number | null)[] {
  const sums = Array.from({ length: count }, (): number | null => null);
  values.forEach((value, at) => {
    if (value === null) return;
    // In units of a value's share: each value has `count` of them, each sum takes `values.length`.
    for (let from = at * count; from < (at + 1) * count; ) {
      const into = Math.floor(from / values.length);
      const until = Math.min((into + 1) * values.length, (at + 1) * count);
      sums[into] = (sums[into] ?? 0) + (value * (until - from)) / count;
      from = until;
    }
  });
  return sums;
}
