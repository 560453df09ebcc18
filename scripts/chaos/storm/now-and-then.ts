// A fault that comes now and then, until it is stopped.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../../../src/selftest/storm/chance.ts';
import type { Stretch } from '../../../src/selftest/storm/storm.ts';

export interface Recurring {
  /** Answers when there were faults, after the last one is over. */
  stop(): Promise<readonly Stretch[]>;
}

/** From the end of one fault to the next. */
export interface Pauses {
  readonly least: number;
  readonly most: number;
}

interface Fault {
  readonly chance: Chance;
  readonly pauseMs: Pauses;
  /** Resolves when it is over, with when it was. */
  strike(): Promise<readonly Stretch[]>;
}

export function nowAndThen({ chance, pauseMs: { least, most }, strike }: Fault): Recurring {
  const stopping = new AbortController();
  const stretches: Stretch[] = [];
  async function go(): Promise<void> {
    for (;;) {
      const pause = sleep(chance.between(least, most), true, stopping);
      if (!(await pause.catch(() => false))) return;
      stretches.push(...(await strike()));
    }
  }
  const going = go();
  going.catch(() => undefined);
  return {
    stop: async () => {
      stopping.abort();
      await going;
      return stretches;
    },
  };
}
