// A group of worker threads of one size. Each executes many runs, whose messages share the port of the thread.
import type { Brief } from '../../agent/port/protocol.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import type { RunHandle, RunSink } from './line.ts';
import { openThread, type Thread } from './thread.ts';
import { makeWatch } from './watch-threads.ts';

export interface PoolSize {
  readonly threads: number;
  readonly runsPerThread: number;
  /** V8 heap limit of one thread. */
  readonly memoryMb: number;
  readonly hangTimeoutMs: number;
}

export interface ThreadGroup {
  start(brief: Brief, sink: RunSink): RunHandle;
  load(): { readonly threads: number; readonly busy: number };
  /** Ends every thread at once; its runs are lost. */
  destroy(): Promise<void>;
}

export interface ThreadGroupParts {
  readonly size: PoolSize;
  readonly clock: Clock;
  readonly log: Log;
  /** Its one element is 1 while model calls have to ask for their budget, see `ThreadTask`. */
  readonly budgets: Int32Array<SharedArrayBuffer>;
  /** Called after a run has ended. */
  runEnded?(): void;
}

/** Two semi-spaces and what survives in them. Little more is used by runs that wait for their models. */
const YOUNG_GENERATION_MB = 12;

/** Makes a group without threads. Its first run starts one; when all are full, another one is added. They end after idling. */
export function makeThreadGroup({
  size,
  clock,
  log,
  budgets,
  runEnded = () => undefined,
}: ThreadGroupParts): ThreadGroup {
  const resourceLimits = { maxOldGenerationSizeMb: size.memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
  const threads = new Set<Thread>();
  const lines = () => Array.from(threads, (thread) => Array.from(thread.lines.values())).flat();
  const workers = () => Array.from(threads).flatMap(({ worker }) => worker() ?? []);
  const watch = makeWatch({ workers, lines, clock, hangTimeoutMs: size.hangTimeoutMs });

  function open(): Thread {
    const thread: Thread = openThread({
      clock,
      resourceLimits,
      budgets,
      runEnded,
      gone: () => threads.delete(thread),
      failed: (error) => log.error({ err: error }, 'a worker thread failed'),
    });
    threads.add(thread);
    return thread;
  }

  /** The one with the fewest runs that has room; otherwise another, if there can be one. */
  function threadForOne(): Thread {
    const byRuns = Array.from(threads).toSorted((a, b) => a.lines.size - b.lines.size);
    const roomy = byRuns.find((thread) => !thread.isRefused() && thread.lines.size < size.runsPerThread);
    if (roomy !== undefined) return roomy;
    const [least] = byRuns;
    return least !== undefined && threads.size >= size.threads ? least : open();
  }

  return {
    start: (brief, sink) => {
      const handle = threadForOne().start(brief, sink);
      watch.begin();
      return handle;
    },
    load: () => ({
      threads: threads.size,
      busy: Array.from(threads).reduce((sum, thread) => sum + thread.lines.size, 0),
    }),
    destroy: async () => {
      watch.stop();
      await Promise.all(Array.from(threads, (thread) => thread.end('its thread was ended')));
    },
  };
}
