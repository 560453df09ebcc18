// Durations as people write them: 1s, 15m, 12h, 30d; and as a clock shows them.

const SECONDS_PER: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const LONGEST_SECONDS = 100 * 366 * 86_400;

/** Seconds of a duration such as `15m` (K5); undefined when it is invalid, zero, or over a hundred years. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,10})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (SECONDS_PER[unit] ?? Number.NaN);
  return seconds >= 1 && seconds <= LONGEST_SECONDS ? seconds : undefined;
}

/** Milliseconds of a duration, which may be as short as `250ms`; undefined as of `parseDuration`. */
export function parseMilliseconds(text: string): number | undefined {
  const [, count] = /^(\d{1,10})ms$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) >= 1 ? Number(count) : undefined;
  const seconds = parseDuration(text);
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** A number of milliseconds for people: `100ms`, `30s`. */
export function formatMilliseconds(ms: number): string {
  return ms % 1_000 === 0 ? formatDuration(ms / 1_000) : `${ms}ms`;
}

/** A duration for people, in its two largest units: `3d 4h`, `5m 2s`, `0s`. */
export function formatDuration(totalSeconds: number): string {
  let rest = Math.max(0, Math.floor(totalSeconds));
  const parts: string[] = [];
  for (const [unit, seconds] of Object.entries(SECONDS_PER).toReversed()) {
    const count = Math.floor(rest / seconds);
    rest %= seconds;
    if (count > 0 || parts.length > 0) parts.push(`${count}${unit}`);
  }
  const shown = parts.slice(0, 2).filter((part) => !part.startsWith('0'));
  return shown.join(' ') || '0s';
}

/** A span of time as a clock shows it that runs: `0:07`, `12:40`, `1:02:03`, `3d 4h`. */
export function stopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds >= 86_400) return formatDuration(seconds);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60)];
  const two = (value: number) => String(value % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}
