// The faults other than kills: another process that locks the database now and then, and one long outage.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { makeChance } from '../../../src/selftest/storm/chance.ts';
import type { Stretch } from '../../../src/selftest/storm/storm.ts';
import type { Engine } from './engine.ts';
import { nowAndThen, type Pauses, type Recurring } from './now-and-then.ts';

/** When a daemon may have lost the runs that it executed. */
export interface Loss extends Stretch {
  /** Whether it was dead from the beginning on; otherwise it may have executed them for a while. */
  readonly isKill: boolean;
}

/** What happened, and when. */
export interface Diary {
  /** Those of the daemon that executed an attempt of a run: each lasts until it was ready again. */
  lossesOf(runSeq: number, attempt: number): readonly Loss[];
  /** While another process held the database. */
  readonly locks: readonly Stretch[];
  /** From before each kill of the database's server until it was ready again. */
  readonly serverDown: readonly Stretch[];
  /** The outage that was longer than a run may take, and what it cut off; null before it came. */
  readonly outage: Outage | null;
}

interface Outage {
  readonly seconds: number;
  readonly running: number;
  readonly queued: number;
}

/** The daemon waits 5 s for a lock. A lock held for longer, on a machine that stalls, is not the daemon's fault. */
const PATIENCE_MS = 4_500;
/** Errors caused by an overlong lock are logged a little later. */
const ECHO_MS = 1_000;
/** Whether something happened then. */
export const isWithin = (at: number, stretches: readonly Stretch[]) =>
  stretches.some(({ from, to }) => from <= at && at <= to);

/** Whether something that happened then may be due to a lock that was longer than anyone has to wait, or to a server that was killed. */
export function isExcused(at: number, { locks, serverDown }: Diary): boolean {
  const overlong = [...locks.filter(({ from, to }) => to - from > PATIENCE_MS), ...serverDown];
  return isWithin(
    at,
    overlong.map(({ from, to }) => ({ from, to: to + ECHO_MS })),
  );
}

/** What a run may take, as the storm sets it. */
export const RUN_LIMIT_SECONDS = 30;
const OUTAGE_MS = 35_000;
/** How long the outage waits for runs in progress and in the queue; then it comes anyway. */
const VICTIMS_MS = 60_000;
const LOCK_MS = { least: 200, most: 3_000 } as const;
/** The daemon can write between two locks. */
const BETWEEN_LOCKS_MS = { least: 1_500, most: 8_000 } as const;

/** Locks the daemon's database now and then. */
export function holdLocks(
  engine: Pick<Engine, 'lock'>,
  daemon: { readonly dataDir: string },
  seed: number,
  pauseMs: Pauses = BETWEEN_LOCKS_MS,
): Recurring {
  const chance = makeChance(seed ^ 0x10c4);
  const strike = () => engine.lock(daemon, chance.between(LOCK_MS.least, LOCK_MS.most));
  return nowAndThen({ chance, pauseMs, strike });
}

/** Waits until runs are in progress and in the queue. */
export async function findVictims(engine: Engine, daemon: DaemonProcess): Promise<void> {
  const until = performance.now() + VICTIMS_MS;
  while (performance.now() < until) {
    const { running = 0, queued = 0 } = await engine.statuses(daemon);
    if (running > 0 && queued > 0) return;
    await sleep(20);
  }
}

/** Leaves a dead daemon dead for longer than a run may take. */
export async function outlast(engine: Engine, daemon: DaemonProcess): Promise<Outage> {
  const { running = 0, queued = 0 } = await engine.statuses(daemon);
  await sleep(OUTAGE_MS);
  return { seconds: OUTAGE_MS / 1_000, running, queued };
}
