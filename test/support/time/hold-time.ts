// A standstill of the clock on which limits of silence are measured.
import { vi } from 'vitest';
import type { Of } from '../files/temporary-directory.ts';

/** Holds `performance.now()` until the test has finished. Returns what moves it: only that lets a model be silent for long. */
export function holdTime(of: Of): (ms: number) => void {
  // Whole, so that what is added to it is what it differs by.
  let now = Math.ceil(performance.now());
  const held = vi.spyOn(performance, 'now').mockImplementation(() => now);
  of.onTestFinished(() => held.mockRestore());
  return (ms) => void (now += ms);
}
