// A group of worker threads of one size. Each executes many runs, with one message port per run.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { Delivery, Parcel } from '../../agent/port/mail.ts';
import type { Brief, Control, Outcome, Signal, SignalBatch, Touched, WorkerTask } from '../../agent/port/protocol.ts';
import type { Clock } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Log } from '../../log/log.ts';
import { threadFile } from '../../threads/thread-file.ts';
import { makeSequence } from './sequence.ts';
import { type Active, makeWatch } from './watch-threads.ts';

/** How a run left its worker. `lost`: the thread died, exited, ran out of memory or hung. */
export type WorkerEnd =
  | { readonly kind: 'done'; readonly outcome: Outcome; readonly touched: Touched }
  /** `wasWaiting`: the run did nothing but wait for its model. */
  | { readonly kind: 'lost'; readonly why: string; readonly wasWaiting: boolean };

export interface RunHandle {
  send(control: Control): void;
}

export interface RunSink {
  /** Signals in order, without the last one. */
  signals(batch: readonly Signal[]): void;
  /** A message of the run can't be sent or read. Abort the run: what it waits for may never come. */
  garbled(why: string): void;
  /** Called once, after every signal. */
  ended(end: WorkerEnd): void;
}

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
  /** Its one element is 1 while model calls have to ask for their budget, see `WorkerTask`. */
  readonly budgets: Int32Array<SharedArrayBuffer>;
  /** Called after a run has ended. */
  runEnded?(): void;
}

/** A thread ends after this time without runs. */
const IDLE_TIMEOUT_MS = 60_000;
/** Two semi-spaces and what survives in them. Little more is used by runs that wait for their models. */
const YOUNG_GENERATION_MB = 12;

/** Makes a group without threads. Its first run starts one; load adds more, which end after a minute of idling. */
export function makeThreadGroup({ size, clock, log, budgets, runEnded }: ThreadGroupParts): ThreadGroup {
  const piscina = new Piscina<WorkerTask | null, void>({
    filename: threadFile('../../agent/port/worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: size.threads,
    idleTimeout: IDLE_TIMEOUT_MS,
    concurrentTasksPerWorker: size.runsPerThread,
    // The default lets an idle thread sleep on a lock, which would also stop its timers and sockets.
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits: { maxOldGenerationSizeMb: size.memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  // Threads that fail without a run are reported here. Without a listener they would end the daemon.
  piscina.on('error', (error: unknown) => log.error({ err: error }, 'an idle worker thread failed'));
  const active = new Set<Active>();
  const lines = new Map<number, Line>();
  let lastLine = 0;
  piscina.on('message', ({ parcels, taken }: Delivery) => {
    for (const parcel of parcels) lines.get(parcel.line)?.take(parcel);
    Atomics.add(taken, 0, 1);
  });
  const watch = makeWatch({ piscina, active, clock, hangTimeoutMs: size.hangTimeoutMs });
  let opening: Promise<void> | null = null;

  /** Resolves when there is a thread; null: there is one. Without this, the pool would start one for each run of a burst. */
  function opened(): Promise<void> | null {
    if (piscina.threads.length > 0) return opening;
    const started = piscina.run(null, { name: 'started' }).finally(() => {
      if (opening === started) opening = null;
    });
    return (opening = started);
  }

  async function execute(brief: Brief, line: Line, name: number): Promise<void> {
    const wait = opened();
    if (wait !== null) await wait;
    // Meanwhile, the watch may have given it up.
    if (!active.has(line)) return;
    const { workerPort, waiting } = line;
    await piscina.run({ brief, port: workerPort, line: name, waiting, budgets }, { transferList: [workerPort] });
    await line.closed;
  }

  return {
    start: (brief, sink) => {
      const name = (lastLine += 1);
      const line: Line = openLine(sink, () => {
        active.delete(line);
        lines.delete(name);
        runEnded?.();
      });
      active.add(line);
      lines.set(name, line);
      watch.begin();
      // The promise may settle before the port has delivered everything, so it is used only to detect the thread's loss.
      execute(brief, line, name).then(
        () => line.lose('it ended without reporting an outcome'),
        (error: unknown) => line.lose(messageOf(error)),
      );
      return line.handle;
    },
    load: () => ({ threads: piscina.threads.length, busy: active.size }),
    destroy: async () => {
      watch.stop();
      await piscina.destroy();
    },
  };
}

interface Line extends Active {
  readonly handle: RunHandle;
  readonly workerPort: MessagePort;
  readonly waiting: Int32Array<SharedArrayBuffer>;
  /** Takes a message of the run, from its port or from the mail. */
  readonly take: (parcel: Parcel) => void;
  /** Resolves when nothing more can come from the worker. */
  readonly closed: Promise<unknown>;
}

/** Opens the main thread's end of a run's port. `ended` is called once, after the sink got the end. */
function openLine(sink: RunSink, ended: () => void): Line {
  const { port1, port2 } = new MessageChannel();
  let isOver = false;
  const end = (result: WorkerEnd) => {
    if (isOver) return;
    isOver = true;
    port1.close();
    sink.ended(result);
    ended();
  };
  const send = (control: Control) => {
    try {
      port1.postMessage(control);
    } catch (error) {
      sink.garbled(messageOf(error));
    }
  };
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  const lose = (why: string) => end({ kind: 'lost', why, wasWaiting: waiting[0] === 1 });
  const ping = () => send({ t: 'ping' });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const sequence = makeSequence((batch: SignalBatch) => {
    if (isOver) return;
    const last = batch.at(-1);
    if (last?.t !== 'done') return sink.signals(batch);
    if (batch.length > 1) sink.signals(batch.slice(0, -1));
    end({ kind: 'done', outcome: last.outcome, touched: last.touched });
  }, close);
  const take = (parcel: Parcel) => {
    line.unanswered = null;
    sequence.take(parcel);
  };
  const line: Line = { handle: { send }, ping, lose, unanswered: null, workerPort: port2, waiting, take, closed };
  port1.on('messageerror', (error) => {
    sequence.broken();
    sink.garbled(messageOf(error));
  });
  port1.on('message', take);
  port1.once('close', sequence.close);
  return line;
}
