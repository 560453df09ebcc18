// A worker thread and the main thread's end of its port: starts runs there, and gives each what comes from it.
import { MessageChannel, type ResourceLimits, type Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { News } from '../../agent/port/mail.ts';
import type { Brief, Order, ThreadTask } from '../../agent/port/protocol.ts';
import type { Clock, Timer } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import { threadFile } from '../../threads/thread-file.ts';
import { type Line, openLine, type RunHandle, type RunSink } from './line.ts';

const WORKER_FILE = threadFile('../../agent/port/worker.ts', import.meta.url);
/** A thread ends after this time without runs. */
const IDLE_TIMEOUT_MS = 60_000;
/** How long runs keep a thread that the system refused: they are claimed again at once, and would be refused again. */
const REFUSED_MS = 5_000;

type Pool = Piscina<ThreadTask, void>;

export interface Thread {
  /** Whether the system refused it, or it died before it had its task: it will be gone soon. */
  isRefused(): boolean;
  /** Undefined when the system refused it: it will be gone soon. */
  worker(): Worker | undefined;
  /** Its runs in progress. */
  readonly lines: ReadonlyMap<number, Line>;
  start(brief: Brief, sink: RunSink): RunHandle;
  /** Ends it at once; its runs are lost. Resolves when it has exited. */
  end(why: string): Promise<void>;
}

interface ThreadParts {
  readonly clock: Clock;
  readonly resourceLimits: ResourceLimits;
  readonly budgets: Int32Array<SharedArrayBuffer>;
  /** Called after a run has ended. */
  runEnded(): void;
  /** Called once, before its runs are lost: it takes no others. */
  gone(): void;
  /** Called with an error that ends it while it has no runs, which would report it. */
  failed(error: unknown): void;
}

/** Starts a thread. It takes runs at once. */
export function openThread({ clock, resourceLimits, budgets, runEnded, gone, failed }: ThreadParts): Thread {
  const { port1: port, port2 } = new MessageChannel();
  const taken = new Int32Array(new SharedArrayBuffer(4));
  const lines = new Map<number, Line>();
  let [isGone, isRefused, lastLine] = [false, false, 0];
  let idling: Timer | undefined;

  function take(news: News): void {
    if ('batch' in news) {
      lines.get(news.line)?.take(news);
    } else {
      for (const parcel of news) lines.get(parcel.line)?.take(parcel);
      Atomics.add(taken, 0, 1);
    }
  }

  function lose(why: string, wasRefused = false): void {
    if (isGone) return;
    isGone = true;
    idling?.cancel();
    gone();
    port.close();
    for (const line of Array.from(lines.values())) line.lose(why, wasRefused);
  }

  async function end(why: string): Promise<void> {
    lose(why);
    await pool?.destroy();
  }

  function start(brief: Brief, sink: RunSink): RunHandle {
    idling?.cancel();
    const name = (lastLine += 1);
    const post = (order: Order) => port.postMessage(order);
    const ended = () => {
      lines.delete(name);
      if (lines.size === 0 && !isGone) idling = clock.after(IDLE_TIMEOUT_MS, () => void end('it was idle'));
      runEnded();
    };
    const line = openLine({ sink, post: (control) => post({ line: name, control }), ended });
    lines.set(name, line);
    try {
      post({ line: name, brief, waiting: line.waiting });
    } catch (error) {
      queueMicrotask(() => line.lose(messageOf(error)));
    }
    return line.handle;
  }

  port.on('message', take);
  // The numbers of the answers show whose message it was.
  port.on('messageerror', () => lines.forEach((line) => line.ping()));
  const pool = launch({ port: port2, taken, budgets }, resourceLimits, {
    failed: (error) => {
      if (lines.size === 0 && !isGone) failed(error);
    },
    lost: lose,
    refused: (why) => {
      if (isGone || isRefused) return;
      isRefused = true;
      clock.after(REFUSED_MS, () => lose(why, true));
    },
  });
  return { isRefused: () => isRefused, worker: () => pool?.threads[0], lines, start, end };
}

interface Launch {
  /** Called with an error of the thread while it doesn't have its task. */
  failed(error: unknown): void;
  /** Called when the thread is gone, perhaps more than once. */
  lost(why: string): void;
  /** Called when there is no thread, also when it is gone. */
  refused(why: string): void;
}

/**
 * Starts the thread, with its one task, in a pool of its own: a pool keeps the tasks of threads that die while they start, and would give
 * them to others. Undefined when the system refuses the thread, which the pool throws rather than reports.
 */
function launch(task: ThreadTask, resourceLimits: ResourceLimits, { failed, lost, refused }: Launch): Pool | undefined {
  const pool: Pool = new Piscina({
    filename: WORKER_FILE.href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 0,
    // The default lets an idle thread sleep on a lock, which would also stop its timers and sockets.
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits,
  });
  let fault = 'its worker thread did not start';
  // Without a listener it would end the daemon.
  pool.on('error', (error: unknown) => {
    fault = messageOf(error);
    failed(error);
  });
  // The task of a thread that had started rejects meanwhile. One that had not has read nothing of its runs: the system lacked memory or
  // descriptors for it, which it reports in different ways.
  pool.on('workerDestroy', () => setImmediate(() => refused(fault)));
  try {
    pool.run(task, { transferList: [task.port] }).then(
      () => lost('it ended'),
      (error: unknown) => lost(messageOf(error)),
    );
    return pool;
  } catch (error) {
    // Without the pool, which would reject the task when it is ended, with nobody to hear of it.
    refused(messageOf(error));
    return undefined;
  }
}
