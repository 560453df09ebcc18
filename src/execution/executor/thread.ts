// The main thread's end of a worker thread's port: starts runs there, and gives each what comes from it.
import { MessageChannel } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { News } from '../../agent/port/mail.ts';
import type { Brief, Order, ThreadTask } from '../../agent/port/protocol.ts';
import type { Clock, Timer } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import { type Line, openLine, type RunHandle, type RunSink } from './line.ts';

/** A thread ends after this time without runs. */
const IDLE_TIMEOUT_MS = 60_000;

export interface Thread {
  /** Its runs in progress. */
  readonly lines: ReadonlyMap<number, Line>;
  /** Whether it has started. */
  isUp(): boolean;
  start(brief: Brief, sink: RunSink): RunHandle;
  /** Ends its runs as lost. It takes no others. */
  lose(why: string): void;
}

interface ThreadParts {
  readonly piscina: Piscina<ThreadTask, void>;
  readonly clock: Clock;
  readonly budgets: Int32Array<SharedArrayBuffer>;
  /** Called after a run has ended. */
  runEnded(): void;
  /** Called once, before its runs are lost: it takes no others. */
  gone(): void;
}

/** Starts a thread. It takes runs at once. */
export function openThread({ piscina, clock, budgets, runEnded, gone }: ThreadParts): Thread {
  const { port1: port, port2 } = new MessageChannel();
  const taken = new Int32Array(new SharedArrayBuffer(4));
  const lines = new Map<number, Line>();
  let [isUp, isGone, lastLine] = [false, false, 0];
  let idling: Timer | undefined;

  function take(news: News): void {
    if (news === 'up') {
      isUp = true;
    } else if ('batch' in news) {
      lines.get(news.line)?.take(news);
    } else {
      for (const parcel of news) lines.get(parcel.line)?.take(parcel);
      Atomics.add(taken, 0, 1);
    }
  }

  function lose(why: string): void {
    if (isGone) return;
    isGone = true;
    idling?.cancel();
    gone();
    port.close();
    for (const line of Array.from(lines.values())) line.lose(why);
  }

  function start(brief: Brief, sink: RunSink): RunHandle {
    idling?.cancel();
    const name = (lastLine += 1);
    const post = (order: Order) => port.postMessage(order);
    const ended = () => {
      lines.delete(name);
      if (lines.size === 0 && !isGone) idling = clock.after(IDLE_TIMEOUT_MS, () => lose('it was idle'));
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
  piscina.run({ port: port2, taken, budgets }, { transferList: [port2] }).then(
    () => lose('it ended'),
    (error: unknown) => lose(messageOf(error)),
  );
  return { lines, isUp: () => isUp, start, lose };
}
