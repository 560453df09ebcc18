// The main thread's end of one run on a thread: takes its signals, sends it controls, and tells how it ended.
import type { Control, Outcome, Signal } from '../../agent/port/protocol.ts';

/** How a run left its worker. `lost`: the thread died, exited, ran out of memory, hung, or a message of it could not be read. */
export type WorkerEnd =
  | { readonly kind: 'done'; readonly outcome: Outcome; readonly untouched: boolean }
  /** `wasWaiting`: the run did nothing but wait for its model. `wasRefused`: the system refused its thread, so it has not begun. */
  | { readonly kind: 'lost'; readonly why: string; readonly wasWaiting: boolean; readonly wasRefused: boolean };

/** Receives what comes of a run. */
export interface RunSink<End = WorkerEnd> {
  /** Signals in order, without the last one. */
  signals(batch: readonly Signal[]): void;
  /** Called once, after every signal. */
  ended(end: End): void;
}

/** A run on its thread. */
export interface WorkerRun {
  send(control: Control): void;
}

/** The same, for its thread. */
export interface RunOnThread extends WorkerRun {
  /** Shared with the worker, see `Start`. */
  readonly waiting: Int32Array<SharedArrayBuffer>;
  take(signals: readonly Signal[]): void;
  /** Ends it as a run whose thread is gone, or was refused. */
  lose(why: string, wasRefused: boolean): void;
}

/** Opens the main thread's end of a run. `over` is called once, after the sink got the end. */
export function openRun(sink: RunSink, post: (control: Control) => void, over: () => void): RunOnThread {
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  let isOver = false;
  const end = (result: WorkerEnd) => {
    if (isOver) return;
    isOver = true;
    sink.ended(result);
    over();
  };
  return {
    waiting,
    send: (control) => {
      if (!isOver) post(control);
    },
    take: (signals) => {
      const last = signals.at(-1);
      if (last?.t !== 'done') return sink.signals(signals);
      if (signals.length > 1) sink.signals(signals.slice(0, -1));
      end({ kind: 'done', outcome: last.outcome, untouched: last.untouched });
    },
    lose: (why, wasRefused) => end({ kind: 'lost', why, wasWaiting: waiting[0] === 1, wasRefused }),
  };
}
