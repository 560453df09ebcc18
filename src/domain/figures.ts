// Counts and durations as people read them, in the API's texts and on terminals.

const UNITS = [
  [1_000_000_000, 'G'],
  [1_000_000, 'M'],
  [1_000, 'k'],
] as const;

/** Such as `950`, `18.2k`, `123k`, `3.1M`. */
export function compact(count: number): string {
  // A number that would round up to the next unit is shown in that unit.
  const [size, unit] = UNITS.find(([size]) => count >= size * 0.9995) ?? [1, ''];
  const value = count / size;
  return `${size === 1 || value >= 99.95 ? Math.round(value) : value.toFixed(1)}${unit}`;
}

/** Such as `412 ms`, `12.3 s`, `41 s`, `3 min 20 s` or `2 h 5 min`. */
export function spokenMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  if (hours > 0) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`;
  return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
}
