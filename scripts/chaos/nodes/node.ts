// A node of the storm under a service manager: whenever its process ends, it is started again.
import { setTimeout as sleep } from 'node:timers/promises';
import { killWhileStarting, orphans, type Stretch } from '../../../src/selftest/storm/storm.ts';
import type { DaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import type { DelayingProxy } from '../../../test/support/postgres/delaying-proxy.ts';
import { restartAgain } from '../storm/engine.ts';

/** From the end of its process until the next one was ready. */
export interface End extends Stretch {
  /** Whether the storm has asked for it. */
  readonly isAsked: boolean;
  readonly code: number | null;
  /** The last lines that the process wrote, where the storm hasn't asked. */
  readonly words: string;
}

/** What is to follow the next end. */
export interface Plan {
  readonly downMs: number;
  /** It is started when this is aborted, if that comes first. */
  readonly early?: AbortSignal;
  /** When the start is killed once, after so many ms; null: it isn't. */
  readonly interruptMs: number | null;
}

export interface ChaosNode {
  readonly name: string;
  readonly id: string;
  readonly daemon: DaemonProcess;
  /** The network between it and the server. */
  readonly wire: DelayingProxy;
  readonly ends: readonly End[];
  readonly startsMs: readonly number[];
  /** What outlived its processes, in words. */
  readonly problems: readonly string[];
  readonly orphans: Set<number>;
  /** Starts that were killed. */
  interrupted(): number;
  /** Announces an end that the storm asks for. Resolves when the next process is ready. */
  end(plan: Plan): Promise<void>;
  /** Resolves when the next process is ready, whoever ends this one. */
  again(): Promise<void>;
  isUp(): boolean;
  /** Resolves when its process is ready: now, or after its start. */
  up(): Promise<void>;
  /** Rejects when it can't be started again; never resolves. */
  readonly broken: Promise<never>;
  /** Starts it no more, and ends it. */
  stop(signal?: NodeJS.Signals): ReturnType<DaemonProcess['stop']>;
}

const RESTART_MS = 100;
/** A start waits for its server by itself, and ends when that is away for long. */
const RESTARTS = 200;
const MOST_WORDS = 600;

/** Takes over a daemon that runs. */
export function keepNode(
  parts: Pick<ChaosNode, 'name' | 'id' | 'daemon' | 'wire'> & { say(words: string): void },
): ChaosNode {
  const { name, daemon, say } = parts;
  const ends: End[] = [];
  const startsMs = [daemon.startMs()];
  const problems: string[] = [];
  const known = new Set<number>();
  let plan: Plan | null = null;
  let [isUp, isOver, interrupted] = [true, false, 0];
  let started = Promise.withResolvers<void>();
  const victim = { ...daemon, restart: () => restartAgain(daemon, RESTARTS) };

  async function startAgain(wanted: Plan | null): Promise<void> {
    const left = await orphans(daemon.dataDir, daemon.dataDir, known);
    problems.push(...left.map((words) => `${name}, after its end ${ends.length + 1}: ${words}`));
    await sleep(wanted?.downMs ?? RESTART_MS, undefined, { signal: wanted?.early }).catch(() => undefined);
    if (wanted !== null && wanted.interruptMs !== null) {
      await killWhileStarting(victim, wanted.interruptMs);
      interrupted += 1;
    }
    await victim.restart();
    startsMs.push(daemon.startMs());
  }

  async function keep(): Promise<void> {
    for (;;) {
      const { code } = await daemon.exited();
      if (isOver) return;
      const from = Date.now();
      isUp = false;
      const wanted = plan;
      plan = null;
      const isAsked = wanted !== null;
      const words = isAsked ? '' : daemon.stderr().trim().slice(-MOST_WORDS);
      if (!isAsked) say(`${name} ended by itself with ${code}`);
      await startAgain(wanted);
      ends.push({ from, to: Date.now(), isAsked, code, words });
      isUp = true;
      started.resolve();
      started = Promise.withResolvers();
    }
  }

  const keeping = keep();
  keeping.catch(() => undefined);
  return {
    ...parts,
    ends,
    startsMs,
    problems,
    orphans: known,
    interrupted: () => interrupted,
    end: (wanted) => {
      plan = wanted;
      return started.promise;
    },
    again: () => started.promise,
    isUp: () => isUp,
    up: async () => {
      if (!isUp) await started.promise;
    },
    broken: keeping.then(() => new Promise<never>(() => undefined)),
    stop: async (signal = 'SIGTERM') => {
      isOver = true;
      return daemon.stop(signal);
    },
  };
}
