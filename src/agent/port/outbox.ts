// Outgoing signals of a run: in order and in batches, those that are streamed with the mail of the thread.
import type { Mail, Parcel } from './mail.ts';
import type { Signal } from './protocol.ts';

/** A batch of this many signals is sent at once. */
const BATCH_SIZE = 64;

/**
 * How signals leave. `streamed`: with the mail; they are flat, so that they can always be read. `later`: when the mail leaves, as a
 * message of the run alone. `now`: as such a message at the end of this turn of the event loop, with all that waits.
 */
const WAYS: Readonly<Record<Signal['t'], 'streamed' | 'later' | 'now'>> = {
  'block-start': 'streamed',
  text: 'streamed',
  'block-stop': 'streamed',
  log: 'later',
  step: 'now',
  'tool-result': 'now',
  compaction: 'now',
  'changes-workspace': 'now',
  spent: 'later',
  'call-failed': 'later',
  'model-wait': 'later',
  'model-wait-over': 'later',
  discard: 'later',
  request: 'now',
  'permit-wanted': 'now',
  'permit-returned': 'now',
  pong: 'now',
  done: 'now',
};

export interface Outbox {
  add(signal: Signal): void;
  /** Sends what waits, as a message of the run alone. */
  flush(): void;
}

export interface OutboxParts {
  readonly mail: Mail;
  /** Names the run to the receiver of the mail; null keeps all out of it. */
  readonly line: number | null;
  /** Sends a message of the run alone. Returns false if that was impossible. */
  post(parcel: Parcel): boolean;
}

/** The outgoing half of a run's channel. */
export function makeOutbox({ mail, line, post }: OutboxParts): Outbox {
  let batch: Signal[] = [];
  let number = 0;
  let soon: NodeJS.Immediate | undefined;

  const take = (): Parcel => {
    const full = batch;
    batch = [];
    return { line: line ?? 0, number, batch: full };
  };
  const flush = () => {
    clearImmediate(soon);
    soon = undefined;
    mail.withdraw(sender);
    if (batch.length > 0 && post(take())) number += 1;
  };
  const leave = () => {
    if (line === null || batch.some(({ t }) => WAYS[t] !== 'streamed')) {
      flush();
      return undefined;
    }
    const parcel = take();
    number += 1;
    return parcel;
  };
  const sender = { leave };
  const add = (signal: Signal) => {
    const last = batch.at(-1);
    if (signal.t === 'text' && last?.t === 'text' && last.index === signal.index) {
      batch[batch.length - 1] = { t: 'text', index: signal.index, text: last.text + signal.text };
    } else {
      batch.push(signal);
    }
    if (batch.length >= BATCH_SIZE) flush();
    else if (WAYS[signal.t] === 'now') soon ??= setImmediate(flush);
    else mail.announce(sender);
  };
  return { add, flush };
}
