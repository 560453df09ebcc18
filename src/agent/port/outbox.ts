// Outgoing signals of a thread's runs: in batches, and what they stream in one message, which costs both threads as much as the
// work for a piece of text.
import type { MessagePort } from 'node:worker_threads';
import type { Batch, Message, Signal, ThreadTask } from './protocol.ts';

/** How long what is streamed waits for more after a message has left: about as long as a commit. */
export const WINDOW_MS = 4;
/** The same where each commit is told to other nodes, which read it: a stream has 20 commits a second. */
export const SHARED_WINDOW_MS = 50;
/** The longest that it waits for a main thread that is busy. */
const MAX_WAIT_MS = 100;
/** A batch of this many signals is sent at once. */
const BATCH_SIZE = 64;

/** Signals that leave at the end of this turn of the event loop, with all that waits of their run. Others wait for the window. */
const URGENT: ReadonlySet<Signal['t']> = new Set([
  'step',
  'tool-result',
  'compaction',
  'changes-workspace',
  'request',
  'permit-wanted',
  'permit-returned',
  'done',
] as const);

export interface Outbox {
  add(run: number, signal: Signal): void;
  /** Sends what waits of a run. */
  flush(run: number): void;
}

/**
 * Makes the outbox of a thread. While the main thread has not taken all messages, what is streamed waits, and the text of each run
 * becomes longer instead: a busy main thread gets fewer pieces.
 */
export function makeOutbox(
  send: (message: Message) => void,
  isTaken: () => boolean,
  windowMs: number = WINDOW_MS,
): Outbox {
  const waiting = new Map<number, Signal[]>();
  const urgent = new Set<number>();
  let timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  let soon: NodeJS.Immediate | undefined;
  let sentAt = -Infinity;

  function sendThose(runs: Iterable<number>): void {
    const batches = Array.from(runs).flatMap((run): Batch[] => {
      const signals = waiting.get(run);
      waiting.delete(run);
      return signals === undefined ? [] : [{ run, signals }];
    });
    if (batches.length > 0) send(batches);
  }

  function sendUrgent(): void {
    soon = undefined;
    sendThose(urgent);
    urgent.clear();
  }

  function sendAll(): void {
    const now = performance.now();
    if (!isTaken() && now - sentAt < MAX_WAIT_MS) {
      timer = setTimeout(sendAll, WINDOW_MS);
      return;
    }
    timer = undefined;
    // What waited may have left by itself.
    if (waiting.size > 0) sentAt = now;
    sendThose(waiting.keys());
  }

  function schedule(): void {
    if (timer !== undefined) return;
    const waitMs = sentAt + windowMs - performance.now();
    timer = waitMs > 0 ? setTimeout(sendAll, waitMs) : setImmediate(sendAll);
  }

  const flush = (run: number) => sendThose([run]);
  const add = (run: number, signal: Signal) => {
    const batch = waiting.get(run) ?? [];
    waiting.set(run, batch);
    const last = batch.at(-1);
    if (signal.t === 'text' && last?.t === 'text' && last.index === signal.index) {
      batch[batch.length - 1] = { t: 'text', index: signal.index, text: last.text + signal.text };
    } else {
      batch.push(signal);
    }
    if (batch.length >= BATCH_SIZE) flush(run);
    else if (URGENT.has(signal.t)) {
      urgent.add(run);
      soon ??= setImmediate(sendUrgent);
    } else schedule();
  };
  return { add, flush };
}

/** Makes the outbox of a thread's port. A message that can't be sent ends the thread. */
export function openOutbox(
  port: Pick<MessagePort, 'postMessage'>,
  { taken, windowMs }: Pick<ThreadTask, 'taken' | 'windowMs'>,
): Outbox {
  let sent = 0;
  let isBroken = false;
  const send = (message: Message) => {
    // Nothing may follow what is missing.
    if (isBroken) return;
    try {
      port.postMessage(message);
      sent = (sent + 1) | 0;
    } catch (error) {
      isBroken = true;
      setImmediate(() => {
        throw error;
      });
    }
  };
  return makeOutbox(send, () => Atomics.load(taken, 0) === sent, windowMs);
}
