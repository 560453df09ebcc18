// Figures as people read them: money, tokens, time, bars and small graphs. Each is as short as it can be.

/** Dollars: `$0.07`, `$12.41`, `$1.2k`. */
export function money(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return '<1¢';
  return dollars < 1000 ? `$${dollars.toFixed(2)}` : `$${short(dollars)}`;
}

/** A count: `950`, `18.2k`, `3.1M`. */
export function short(count: number): string {
  const step = STEPS.find(([size]) => count >= size * 0.9995);
  if (step === undefined) return String(Math.round(count));
  const [size, unit] = step;
  const value = count / size;
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

const STEPS: readonly (readonly [number, string])[] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** A span of time: `0:07`, `12:40`, `1:02:03`, `3d 4h`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600), Math.floor(seconds / 60)];
  if (days > 0) return `${days}d ${hours % 24}h`;
  const two = (value: number) => String(value % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

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
