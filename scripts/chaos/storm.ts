// The storm: a daemon under load is killed at random moments, again and again, and started anew on what it left.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../../test/support/daemon-process.ts';
import { makeChance } from './chance.ts';
import { findProcesses } from './processes.ts';

const LONGEST_LIFE_MS = 1_500;
const LONGEST_START_MS = 500;
const MOURNING_MS = 2_000;

export interface StormWish {
  readonly kills: number;
  readonly seed: number;
  readonly marker: string;
  told(kill: number): void;
}

export interface Storm {
  /** Milliseconds from spawn to ready, of each start. */
  readonly startsMs: readonly number[];
  /** Kills that came before the daemon was ready; they come on top of the others. */
  readonly stillborn: number;
  /** Processes that outlived their daemon. */
  readonly problems: readonly string[];
  /** Their pids. */
  readonly orphans: Set<number>;
}

/** Kills the daemon so many times, each at a random moment of its first 1.5 seconds, and leaves it running. */
export async function blow(daemon: DaemonProcess, { kills, seed, marker, told }: StormWish): Promise<Storm> {
  const chance = makeChance(seed ^ 0x5707);
  const startsMs: number[] = [];
  const problems: string[] = [];
  const known = new Set<number>();
  let stillborn = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    await sleep(chance.between(0, LONGEST_LIFE_MS));
    await daemon.kill();
    problems.push(...(await orphans(daemon.dataDir, marker, known)).map((words) => `after kill ${kill}: ${words}`));
    if (chance.oneIn(6) && (await killWhileStarting(daemon, chance.between(0, LONGEST_START_MS)))) stillborn += 1;
    await daemon.restart();
    startsMs.push(daemon.startMs());
    told(kill);
  }
  return { startsMs, stillborn, problems, orphans: known };
}

/** Starts the daemon and kills it so long after its first sign of life; answers whether that was before it was ready. */
async function killWhileStarting(daemon: DaemonProcess, afterMs: number): Promise<boolean> {
  let over: 'ready' | 'dead' | null = null;
  const start = daemon.restart().then(
    () => (over = 'ready'),
    (error: unknown) => {
      // A start that failed for any other reason is what the storm is looking for.
      if (!String(error).includes('ended with SIGKILL')) throw error;
      return (over = 'dead');
    },
  );
  let pid: number | undefined;
  while (pid === undefined && over === null) {
    const found = await findProcesses(daemon.dataDir, daemon.dataDir);
    pid = found.find(({ command }) => command.includes(' serve '))?.pid;
  }
  await Promise.race([sleep(afterMs), start]);
  if (pid !== undefined && over === null) process.kill(pid, 'SIGKILL');
  return (await start) === 'dead';
}

/** Waits until a dead daemon's children are gone too; answers those that are not, and adds them to `known`. */
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
