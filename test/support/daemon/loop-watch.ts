// Watches what the main thread of a daemon's process takes at once.
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leastOfFive } from '../time/machine-speed.ts';
import { waitFor } from '../time/wait-for.ts';
import type { DaemonProcess } from './daemon-process.ts';

const PRELOAD = join(import.meta.dirname, 'longest-turn.mjs');

/** The most processor time of one turn of the loop, in ms, and the most memory of the process, in MB. */
export interface LoopUse {
  readonly longestMs: number;
  readonly peakRssMb: number;
}

interface Written extends LoopUse {
  readonly starts: number;
  readonly intervals: number;
}

type Watched = Pick<DaemonProcess, 'pid'>;

/** `env` is for the daemon, and limits its heap; `during` tells what the daemon took while something was done. */
export function watchLoop({ heapMb }: { readonly heapMb: number }) {
  const file = join(tmpdir(), `errand-longest-turn-${randomUUID()}.json`);
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as Written;
  async function during(daemon: Watched, work: () => Promise<unknown>): Promise<LoopUse> {
    const { starts } = read();
    process.kill(daemon.pid(), 'SIGUSR2');
    await waitFor(() => read().starts > starts);
    await work();
    // One that is being written may not have the turn that ends the work; after the next, a whole interval has followed it.
    const { intervals } = read();
    await waitFor(() => read().intervals >= intervals + 2);
    return read();
  }

  return {
    env: { NODE_OPTIONS: `--import=${PRELOAD} --max-old-space-size=${heapMb}`, LONGEST_TURN_FILE: file },
    during,
    /** What the work takes when it takes least, of five times, by the time of a quiet machine. */
    leastOf: async (daemon: Watched, { enoughMs }: { readonly enoughMs: number }, work: () => Promise<unknown>) => {
      let peakRssMb = 0;
      const longestMs = await leastOfFive(enoughMs, async () => {
        const use = await during(daemon, work);
        peakRssMb = Math.max(peakRssMb, use.peakRssMb);
        return use.longestMs;
      });
      return { longestMs, peakRssMb };
    },
    /** Removes what the daemon has written. */
    close: () => rmSync(file, { force: true }),
  };
}
