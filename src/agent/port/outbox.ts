// Outgoing signals: in order, in batches, with the first text sent at once.
import type { Signal, SignalBatch } from './protocol.ts';

/** How long text waits for more after a batch was sent: only briefly, since the model's bytes were already gathered. */
export const BATCH_WINDOW_MS = 5;
/** A batch of this many signals is sent at once. */
const BATCH_SIZE = 64;

/** Signals that are sent at once; text and blocks may wait for a batch. */
const URGENT: Readonly<Record<Signal['t'], boolean>> = {
  'block-start': false,
  text: false,
  'block-stop': false,
  log: false,
  step: true,
  'tool-result': true,
  compaction: true,
  spent: false,
  'call-failed': false,
  discard: false,
  request: true,
  'permit-wanted': true,
  'permit-returned': true,
  pong: true,
  done: true,
};

export interface Outbox {
  add(signal: Signal): void;
}

/** The outgoing half: text after a quiet time leaves at once, a busy stream leaves in batches; the order is kept. */
export function makeOutbox(post: (batch: SignalBatch) => void): Outbox {
  let batch: Signal[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sentAt = -Infinity;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (batch.length === 0) return;
    const full = batch;
    batch = [];
    sentAt = performance.now();
    post(full);
  };
  const add = (signal: Signal) => {
    const last = batch.at(-1);
    if (signal.t === 'text' && last?.t === 'text' && last.index === signal.index) {
      batch[batch.length - 1] = { t: 'text', index: signal.index, text: last.text + signal.text };
    } else {
      batch.push(signal);
    }
    const quietMs = performance.now() - sentAt;
    const textMayGo = signal.t === 'text' && quietMs >= BATCH_WINDOW_MS;
    if (URGENT[signal.t] || textMayGo || batch.length >= BATCH_SIZE) flush();
    else timer ??= setTimeout(flush, Math.min(BATCH_WINDOW_MS, Math.max(0, BATCH_WINDOW_MS - quietMs)));
  };
  return { add };
}
