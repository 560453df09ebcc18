// Limits on a model's silence, with one timer per call regardless of the number of tokens.
import { type Halt, makeHalt } from '../../../domain/halt.ts';
import type { RunLimits } from '../../port/protocol.ts';

export type Silence = 'first-token' | 'idle';

export interface Watchdog {
  /** Comes when the model was silent too long or the run was stopped. */
  readonly halt: Halt;
  /** Which limit was exceeded, if any. */
  expired(): Silence | null;
  /** Part of the reply has arrived. */
  touch(): void;
  end(): void;
}

/** Watches one model call: the first token has one limit, every later silence another (D8). */
export function startWatchdog(limits: RunLimits, run: Halt): Watchdog {
  const halt = makeHalt();
  const stop = () => halt.halt();
  let silence: Silence = 'first-token';
  let expired: Silence | null = null;
  let touchedAt = performance.now();

  const check = () => {
    const limitMs = silence === 'idle' ? limits.idleTimeoutMs : limits.firstTokenTimeoutMs;
    const leftMs = limitMs - (performance.now() - touchedAt);
    if (leftMs > 0) {
      timer = setTimeout(check, Math.min(leftMs, limits.idleTimeoutMs));
      return;
    }
    expired = silence;
    halt.halt();
  };
  // Never armed for longer than the idle limit, since a touch does not reset the timer.
  let timer = setTimeout(check, Math.min(limits.firstTokenTimeoutMs, limits.idleTimeoutMs));
  run.listen(stop);

  return {
    halt,
    expired: () => expired,
    touch: () => {
      silence = 'idle';
      touchedAt = performance.now();
    },
    end: () => {
      clearTimeout(timer);
      run.leave(stop);
    },
  };
}
