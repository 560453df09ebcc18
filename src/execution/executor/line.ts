// The main thread's end of one run on a thread: its messages in order, control to it, and how it ends.
import type { Parcel } from '../../agent/port/mail.ts';
import type { Control, Outcome, Signal } from '../../agent/port/protocol.ts';
import { messageOf } from '../../domain/errors.ts';

/** How a run left its worker. `lost`: the thread died, exited, ran out of memory or hung. */
export type WorkerEnd =
  | { readonly kind: 'done'; readonly outcome: Outcome; readonly untouched: boolean }
  /** `wasWaiting`: the run did nothing but wait for its model. `wasRefused`: the system refused its thread, so it has not begun. */
  | { readonly kind: 'lost'; readonly why: string; readonly wasWaiting: boolean; readonly wasRefused?: boolean };

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

export interface Line {
  readonly handle: RunHandle;
  /** Shared with the worker, see `Start`. */
  readonly waiting: Int32Array<SharedArrayBuffer>;
  /** Takes a message of the run. */
  take(parcel: Parcel): void;
  ping(): void;
  /** Ends it as a run whose worker is gone, or was refused. */
  lose(why: string, wasRefused?: boolean): void;
  /** Monotonic time of the oldest unanswered ping; null when there is none. */
  unanswered: number | null;
}

interface LineParts {
  readonly sink: RunSink;
  /** Throws when the message can't be sent. */
  post(control: Control): void;
  /** Called once, after the sink got the end. */
  ended(): void;
}

/** Opens the main thread's end of a run. */
export function openLine({ sink, post, ended }: LineParts): Line {
  let isOver = false;
  let next = 0;
  const end = (result: WorkerEnd) => {
    if (isOver) return;
    isOver = true;
    sink.ended(result);
    ended();
  };
  const send = (control: Control) => {
    if (isOver) return;
    try {
      post(control);
    } catch (error) {
      sink.garbled(messageOf(error));
    }
  };
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  const take = ({ number, batch }: Parcel) => {
    line.unanswered = null;
    if (number !== next) sink.garbled('it could not be read');
    next = number + 1;
    const last = batch.at(-1);
    if (last?.t !== 'done') return sink.signals(batch);
    if (batch.length > 1) sink.signals(batch.slice(0, -1));
    end({ kind: 'done', outcome: last.outcome, untouched: last.untouched });
  };
  const line: Line = {
    handle: { send },
    waiting,
    take,
    ping: () => send({ t: 'ping' }),
    lose: (why, wasRefused = false) =>
      end({ kind: 'lost', why, wasWaiting: waiting[0] === 1, ...(wasRefused && { wasRefused }) }),
    unanswered: null,
  };
  return line;
}
