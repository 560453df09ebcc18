// The storm: a daemon under load is killed at random moments, repeatedly, and restarted on what it left.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { makeChance } from '../chance.ts';
import { type Diary, findVictims, holdLocks, outlast, type Stretch } from './faults.ts';
import { findProcesses } from './processes.ts';

/** On a slow machine a life lasts as long as the start before it: otherwise nothing would be in progress when it ends. */
const LONGEST_LIFE_MS = 1_500;
const LONGEST_START_MS = 500;
/** One in this many lives is longer: the storm must also meet work that takes longer than the others last. */
const LONG_LIVES = 8;
const LONG_LIFE_MS = 8_000;
const MOURNING_MS = 10_000;

export interface StormWish {
  readonly kills: number;
  readonly seed: number;
  readonly marker: string;
  report(kill: number): void;
}

export interface Storm {
  /** Milliseconds from spawn to ready, of each start. */
  readonly startsMs: readonly number[];
  /** Kills before the daemon was ready, in addition to the others. */
  readonly stillborn: number;
  /** Processes that outlived their daemon. */
  readonly problems: readonly string[];
  /** Their pids. */
  readonly orphans: Set<number>;
  readonly diary: Diary;
}

/**
 * Kills the daemon a number of times, mostly at a random moment of its first two seconds, and leaves it running. Once,
 * halfway through, it stays down for a while; and throughout, another process locks its database now and then.
 */
export async function blow(daemon: DaemonProcess, { kills, seed, marker, report }: StormWish): Promise<Storm> {
  const chance = makeChance(seed ^ 0x5707);
  const startsMs: number[] = [];
  const problems: string[] = [];
  const known = new Set<number>();
  const down: Stretch[] = [];
  const locks = holdLocks(daemon, seed);
  let outage: Diary['outage'] = null;
  let stillborn = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const isLong = kill === Math.ceil(kills / 2);
    const longestMs = chance.oneIn(LONG_LIVES) ? LONG_LIFE_MS : Math.max(LONGEST_LIFE_MS, daemon.startMs());
    await sleep(chance.between(0, longestMs));
    if (isLong) await findVictims(daemon);
    let from = Date.now();
    await daemon.kill();
    problems.push(...(await orphans(daemon.dataDir, marker, known)).map((words) => `after kill ${kill}: ${words}`));
    if (isLong) outage = await outlast(daemon);
    if (chance.oneIn(6)) {
      const again = await killWhileStarting(daemon, chance.between(0, LONGEST_START_MS));
      if (again.was === 'dead') stillborn += 1;
      down.push({ from, to: again.at });
      from = again.at;
    }
    await daemon.restart();
    down.push({ from, to: Date.now() });
    startsMs.push(daemon.startMs());
    report(kill);
  }
  return { startsMs, stillborn, problems, orphans: known, diary: { down, locks: await locks.stop(), outage } };
}

/** Starts the daemon and kills it some time after its first sign of life; returns when, and whether it was ready by then. */
async function killWhileStarting(
  daemon: DaemonProcess,
  afterMs: number,
): Promise<{ was: 'ready' | 'dead'; at: number }> {
  let over: 'ready' | 'dead' | null = null;
  const start = daemon.restart().then(
    () => (over = 'ready' as const),
    (error: unknown) => {
      // A start that failed for any other reason is what the storm is looking for.
      if (!String(error).includes('ended with SIGKILL')) throw error;
      return (over = 'dead' as const);
    },
  );
  let pid: number | undefined;
  while (pid === undefined && over === null) {
    const found = await findProcesses(daemon.dataDir, daemon.dataDir);
    pid = found.find(({ command }) => command.includes(' serve '))?.pid;
    if (pid === undefined) await sleep(5);
  }
  await Promise.race([sleep(afterMs), start]);
  const at = Date.now();
  if (pid !== undefined && over === null) process.kill(pid, 'SIGKILL');
  return { was: await start, at };
}

/** Waits until a dead daemon's children are gone, too; returns those that are not, and adds them to `known`. */
export async function orphans(dataDir: string, marker: string, known: Set<number>): Promise<string[]> {
  const until = performance.now() + MOURNING_MS;
  for (;;) {
    const found = (await findProcesses(dataDir, marker)).filter(({ pid }) => !known.has(pid));
    if (found.length === 0) return [];
    if (performance.now() > until) {
      for (const { pid } of found) known.add(pid);
      return found.map(({ pid, command }) => `process ${pid} still lives: ${command}`);
    }
    await sleep(10);
  }
}
