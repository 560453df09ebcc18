// Limits on a model's silence, with one timer per call regardless of the number of tokens.
import type { RunLimits } from '../../port/protocol.ts';

export type Silence = 'first-token' | 'idle';

export interface Watchdog {
  /** Aborts when the model was silent too long or the run was stopped. */
  readonly signal: AbortSignal;
  /** Which limit was exceeded, if any. */
  expired(): Silence | null;
  /** Part of the reply has arrived. */
  touch(): void;
  end(): void;
}

/** Watches one model call: the first token has one limit, every later silence another (D8). */
export function startWatchdog(limits: RunLimits, runSignal: AbortSignal): Watchdog {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let silence: Silence = 'first-token';
  let expired: Silence | null = null;
  let touchedAt = performance.now();

  const limitOf = () => (silence === 'idle' ? limits.idleTimeoutMs : limits.firstTokenTimeoutMs);
  const check = () => {
    const leftMs = limitOf() - (performance.now() - touchedAt);
    if (leftMs > 0) {
      timer = setTimeout(check, Math.min(leftMs, limits.idleTimeoutMs));
      return;
    }
    expired = silence;
    controller.abort();
  };
  // Never armed for longer than the idle limit, since a touch does not reset the timer.
  let timer = setTimeout(check, Math.min(limits.firstTokenTimeoutMs, limits.idleTimeoutMs));
  runSignal.addEventListener('abort', abort, { once: true });
  if (runSignal.aborted) abort();

  return {
    signal: controller.signal,
    expired: () => expired,
    touch: () => {
      silence = 'idle';
      touchedAt = performance.now();
    },
    end: () => {
      clearTimeout(timer);
      runSignal.removeEventListener('abort', abort);
    },
  };
}
