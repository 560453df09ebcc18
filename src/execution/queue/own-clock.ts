// The clock of this machine beside the database's: times in logs, of certificates and of signatures are the machine's.
import type { Clock } from '../../domain/clock.ts';
import { wordsOfClock } from '../../domain/nodes/node.ts';
import type { Log } from '../../log/log.ts';
import type { NodeRow } from '../../store/worker-nodes.ts';

/** What took longer says too little. */
const LONGEST_MS = 1_000;

export interface OwnClock {
  /** Reads the rows of nodes, which tell the database's time, and compares it. */
  comparing(list: () => Promise<readonly NodeRow[]>): Promise<readonly NodeRow[]>;
  /** By how many milliseconds it is ahead; negative when it is behind. Null while it isn't known. */
  aheadMs(): number | null;
}

interface Parts {
  /** Wall time as the machine has it, whatever the daemon's clock follows. */
  readonly machine: Pick<Clock, 'now'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

export function makeOwnClock({ machine, clock, log }: Parts): OwnClock {
  let aheadMs: number | null = null;
  let isTold = false;

  function tell(): void {
    const words = wordsOfClock(aheadMs);
    if (words !== null && !isTold) log.warn({ ahead_ms: aheadMs }, `the clock of this machine is ${words}`);
    if (words === null && isTold) log.info({ ahead_ms: aheadMs }, "the clock of this machine is the database's again");
    isTold = words !== null;
  }

  return {
    comparing: async (list) => {
      const [askedAt, begunAt] = [machine.now(), clock.monotonic()];
      const rows = await list();
      const tookMs = clock.monotonic() - begunAt;
      const [row] = rows;
      if (row === undefined || tookMs > LONGEST_MS) return rows;
      aheadMs = Math.round(askedAt + tookMs / 2 - (row.lastBeatAt + row.silentMs));
      tell();
      return rows;
    },
    aheadMs: () => aheadMs,
  };
}
