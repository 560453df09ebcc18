// Notices that nobody answers any more: a machine that is gone, or a network that passes nothing, ends no connection by itself.
import type { Clock, Timer } from '../../../../domain/clock.ts';

export interface SilenceWatch {
  /** Something was sent that will be answered. */
  sent(): void;
  answered(): void;
  end(): void;
}

/** Calls `silent` once when nothing was answered for so long though something was sent. */
export function watchSilence(clock: Clock, limitMs: number, silent: () => void): SilenceWatch {
  let [open, since] = [0, 0];
  let timer: Timer | undefined;

  const look = () => {
    const leftMs = open === 0 ? limitMs : since + limitMs - clock.monotonic();
    if (leftMs > 0) timer = clock.after(leftMs, look);
    else silent();
  };
  return {
    sent: () => {
      if (open === 0) since = clock.monotonic();
      open += 1;
      timer ??= clock.after(limitMs, look);
    },
    answered: () => {
      open -= 1;
      since = clock.monotonic();
    },
    end: () => timer?.cancel(),
  };
}
