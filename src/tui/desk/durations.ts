// How long a call took, in as few characters as possible.
import { span } from '../text/figures.ts';

/** `85 ms`, `3.2 s`, `2:05`. */
export function elapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms);
}
