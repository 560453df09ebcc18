// The pool: worker threads, each with many runs, one message port per run.
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { Brief, Control, Outcome, Signal, SignalBatch, WorkerTask } from '../agent/protocol.ts';
import type { Clock, Timer } from '../domain/clock.ts';
import { messageOf } from '../domain/errors.ts';
import type { Log } from '../log.ts';

/** How a run left its worker. `lost`: the thread died, exited, ran out of memory or hung. */
export type WorkerEnd =
  | { readonly kind: 'done'; readonly outcome: Outcome }
  | { readonly kind: 'lost'; readonly why: string };

export interface RunHandle {
  send(control: Control): void;
}

export interface RunSink {
  /** Signals in order, without the last one. */
  signals(batch: readonly Signal[]): void;
  /** Once, after every signal. */
  ended(end: WorkerEnd): void;
}

export interface PoolSize {
  readonly threads: number;
  readonly runsPerThread: number;
  /** V8 heap limit of one thread. */
  readonly memoryMb: number;
  readonly hangTimeoutMs: number;
}

export interface Pool {
  start(brief: Brief, sink: RunSink): RunHandle;
  /** Runs that may be under way at once. */
  readonly slots: number;
  /** Threads that live now, and runs that are under way on them. */
  load(): { readonly threads: number; readonly busy: number };
  /** Ends every thread at once; its runs are lost. */
  destroy(): Promise<void>;
}

interface PoolParts {
  readonly size: PoolSize;
  readonly clock: Clock;
  readonly log: Log;
}

interface Active {
  readonly handle: RunHandle;
  readonly end: (result: WorkerEnd) => void;
  /** Monotonic time of the oldest ping without an answer; null when there is none. */
  unanswered: number | null;
}

/** Starts the pool with one warm thread. Threads are added under load and end when they have been idle for a minute. */
export function makePool({ size, clock, log }: PoolParts): Pool {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const piscina = new Piscina<WorkerTask, void>({
    filename: new URL(`../agent/worker.${extension}`, import.meta.url).href,
    minThreads: 1,
    maxThreads: size.threads,
    idleTimeout: 60_000,
    concurrentTasksPerWorker: size.runsPerThread,
    // The default lets an idle thread sleep on a lock, which would also stop its timers and sockets.
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: size.memoryMb },
  });
  // Threads that fail with no run on them are told here. Without a listener they would end the daemon.
  piscina.on('error', (error: unknown) => log.error({ err: error }, 'an idle worker thread failed'));
  const active = new Set<Active>();
  const watch = makeWatch({ piscina, active, clock, hangTimeoutMs: size.hangTimeoutMs });

  return {
    start: (brief, sink) => {
      const { port1, port2 } = new MessageChannel();
      const end = (result: WorkerEnd) => {
        if (!active.delete(entry)) return;
        port1.close();
        sink.ended(result);
      };
      const entry: Active = { handle: { send: (control) => port1.postMessage(control) }, end, unanswered: null };
      port1.on('message', (batch: SignalBatch) => {
        entry.unanswered = null;
        const last = batch.at(-1);
        if (last?.t !== 'done') {
          sink.signals(batch);
          return;
        }
        if (batch.length > 1) sink.signals(batch.slice(0, -1));
        end({ kind: 'done', outcome: last.outcome });
      });
      active.add(entry);
      watch.begin();
      // The promise may settle before the port has delivered everything, so only the thread's loss is taken from it.
      piscina
        .run({ brief, port: port2 }, { transferList: [port2] })
        .catch((error: unknown) => end({ kind: 'lost', why: messageOf(error) }));
      return entry.handle;
    },
    slots: size.threads * size.runsPerThread,
    load: () => ({ threads: piscina.threads.length, busy: active.size }),
    destroy: async () => {
      watch.stop();
      await piscina.destroy();
    },
  };
}

interface WatchParts {
  readonly piscina: Piscina<WorkerTask, void>;
  readonly active: ReadonlySet<Active>;
  readonly clock: Clock;
  readonly hangTimeoutMs: number;
}

/** A thread's idle time, and when it was last seen to have grown. */
interface Idling {
  readonly idleMs: number;
  readonly at: number;
}

/**
 * Pings every run while there are any. When one stays silent, threads that have not idled for just as long are ended.
 * Runs without any thread are lost: the pool starts none by itself after one has died while it began.
 */
function makeWatch({ piscina, active, clock, hangTimeoutMs }: WatchParts): { begin(): void; stop(): void } {
  let idling = new Map<number, Idling>();
  let timer: Timer | undefined;

  /** Threads whose loop has not come to rest for the whole timeout; a shorter look takes a starved thread for a hung one. */
  function restless(now: number): typeof piscina.threads {
    const before = idling;
    idling = new Map();
    return piscina.threads.filter((thread) => {
      const { idle, active: busy } = thread.performance.eventLoopUtilization();
      const known = before.get(thread.threadId);
      const seen = known?.idleMs === idle && busy > 0 ? known : { idleMs: idle, at: now };
      idling.set(thread.threadId, seen);
      return now - seen.at >= hangTimeoutMs;
    });
  }

  function look(): void {
    timer = undefined;
    const now = clock.monotonic();
    const silentMs = (run: Active) => (run.unanswered === null ? 0 : now - run.unanswered);
    const hung = restless(now);
    if (Array.from(active).some((run) => silentMs(run) >= hangTimeoutMs))
      for (const thread of hung) void thread.terminate();
    for (const run of active) {
      if (piscina.threads.length === 0) {
        run.end({ kind: 'lost', why: 'there is no worker thread' });
        continue;
      }
      run.unanswered ??= now;
      run.handle.send({ t: 'ping' });
    }
    begin();
  }

  function begin(): void {
    if (timer === undefined && active.size > 0) timer = clock.after(hangTimeoutMs / 4, look);
  }

  return { begin, stop: () => timer?.cancel() };
}
