// The storm: a daemon under load is killed at random moments, repeatedly, and restarted on what it left.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../domain/errors.ts';
import { makeChance } from './chance.ts';
import { findProcesses } from './processes.ts';

/** On a slow machine a life lasts as long as the start before it: otherwise nothing would be in progress when it ends. */
const LONGEST_LIFE_MS = 1_500;
const LONGEST_START_MS = 500;
/** One in this many lives is longer: the storm must also meet work that takes longer than the others last. */
const LONG_LIVES = 8;
const LONG_LIFE_MS = 8_000;
const MOURNING_MS = 10_000;

/** The daemon that is killed. */
export interface Victim {
  readonly dataDir: string;
  /** Milliseconds from spawn to ready, at the last start. */
  startMs(): number;
  /** SIGKILL to the daemon alone. */
  kill(): Promise<unknown>;
  /** Starts it on what is there; rejects with "ended with SIGKILL" when it was killed before it was ready. */
  restart(): Promise<unknown>;
}

export interface StormRequest {
  readonly seed: number;
  /** In the arguments of processes that belong to the daemon, beside its data directory. */
  readonly marker: string;
  readonly signal?: AbortSignal;
  /** How much longer the storm lasts after so many kills; no more kills from 0 on. */
  leftMs(kills: number): number;
  /** Called before the daemon is killed, and while it is dead; `kill` counts from 1. */
  beforeKill?(kill: number): Promise<void>;
  whileDead?(kill: number): Promise<void>;
  report(kill: number): void;
}

/** A stretch of wall time, in milliseconds. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Storm {
  readonly kills: number;
  /** Milliseconds from spawn to ready, of each start. */
  readonly startsMs: readonly number[];
  /** Kills while the daemon started, or as soon as it was ready, in addition to the others. */
  readonly interrupted: number;
  /** Processes that outlived their daemon. */
  readonly problems: readonly string[];
  /** Their pids. */
  readonly orphans: Set<number>;
  /** From before each kill until the daemon was ready again. */
  readonly down: readonly Stretch[];
  /** Why the daemon didn't start again, which ended the storm; null when it is running. */
  readonly dead: string | null;
}

/**
 * Kills the daemon repeatedly, mostly at a random moment of its first two seconds, sometimes before it is ready, and leaves
 * it running. The same seed gives the same draws.
 */
export async function blow(daemon: Victim, request: StormRequest): Promise<Storm> {
  const { seed, marker, signal, leftMs, report } = request;
  const chance = makeChance(seed ^ 0x5707);
  const startsMs: number[] = [];
  const problems: string[] = [];
  const known = new Set<number>();
  const down: Stretch[] = [];
  let [kills, interrupted] = [0, 0];
  let dead: string | null = null;
  for (let left = leftMs(0); left > 0 && dead === null; left = leftMs(kills)) {
    const longestMs = chance.oneIn(LONG_LIVES) ? LONG_LIFE_MS : Math.max(LONGEST_LIFE_MS, daemon.startMs());
    await sleep(Math.min(chance.between(0, longestMs), left), undefined, { signal });
    kills += 1;
    await request.beforeKill?.(kills);
    let from = Date.now();
    await daemon.kill();
    problems.push(...(await orphans(daemon.dataDir, marker, known)).map((words) => `after kill ${kills}: ${words}`));
    await request.whileDead?.(kills);
    const startMs = chance.oneIn(6) ? chance.between(0, LONGEST_START_MS) : null;
    try {
      if (startMs !== null) {
        const at = await killWhileStarting(daemon, startMs);
        interrupted += 1;
        down.push({ from, to: at });
        from = at;
      }
      await daemon.restart();
      startsMs.push(daemon.startMs());
    } catch (error) {
      signal?.throwIfAborted();
      dead = `after kill ${kills}: ${messageOf(error)}`;
    }
    down.push({ from, to: Date.now() });
    report(kills);
  }
  return { kills, startsMs, interrupted, problems, orphans: known, down, dead };
}

/** Starts the daemon and kills it some time after its first sign of life, or when it is ready before that; returns when. */
export async function killWhileStarting(daemon: Victim, afterMs: number): Promise<number> {
  let over: 'ready' | 'dead' | null = null;
  const start = daemon.restart().then(
    () => void (over = 'ready'),
    (error: unknown) => {
      over = 'dead';
      // A start that failed for any other reason is what the storm is looking for.
      if (!String(error).includes('ended with SIGKILL')) throw error;
    },
  );
  start.catch(() => undefined);
  let pid: number | undefined;
  while (pid === undefined && over === null) {
    const found = await findProcesses(daemon.dataDir, daemon.dataDir);
    pid = found.find(({ command }) => command.includes(' serve '))?.pid;
    if (pid === undefined) await sleep(5);
  }
  await Promise.race([sleep(afterMs), start]);
  const at = Date.now();
  if (pid !== undefined && over === null) process.kill(pid, 'SIGKILL');
  await start;
  // Ready at the last moment: a second daemon, started beside it, would be refused.
  if (over === 'ready') await daemon.kill();
  return at;
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
