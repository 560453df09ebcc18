// The mail of a thread: carries what its runs stream to the main thread together, since each message costs both threads as much
// as the work for a piece of text.
import type { MessagePort } from 'node:worker_threads';
import type { SignalBatch } from './protocol.ts';

/** How long what is streamed waits for more after mail has left: about as long as a commit. */
export const MAIL_WINDOW_MS = 4;
/** The longest that mail waits for a main thread that is busy. */
const MAX_WAIT_MS = 100;

/** One message of a run. They are numbered from 0, so that the main thread notices when one could not be read. */
export interface Parcel {
  /** Names the run to the main thread. */
  readonly line: number;
  readonly number: number;
  readonly batch: SignalBatch;
}

/** Worker to main: a message of one run, or the mail. */
export type News = Parcel | readonly Parcel[];

/** What a run has to send. */
export interface Sender {
  /** Called when the mail leaves. Returns nothing when it was sent by itself. */
  leave(): Parcel | undefined;
}

export interface Mail {
  /** Calls `leave` soon: at the end of this turn of the event loop if no mail has left lately. */
  announce(sender: Sender): void;
  withdraw(sender: Sender): void;
}

/**
 * Makes the mail of a thread. While the main thread has not taken the last of it, no more leaves, and the text of each run becomes
 * longer instead: a busy main thread gets fewer pieces.
 */
export function makeMail(send: (parcels: readonly Parcel[]) => void, isTaken: () => boolean): Mail {
  const senders = new Set<Sender>();
  let timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  let sentAt = -Infinity;

  function leave(): void {
    const now = performance.now();
    if (!isTaken() && now - sentAt < MAX_WAIT_MS) {
      timer = setTimeout(leave, MAIL_WINDOW_MS);
      return;
    }
    timer = undefined;
    // What waited may have left by itself.
    if (senders.size > 0) sentAt = now;
    const leaving = Array.from(senders);
    senders.clear();
    const parcels = leaving.flatMap((sender) => sender.leave() ?? []);
    if (parcels.length > 0) send(parcels);
  }

  return {
    announce: (sender) => {
      senders.add(sender);
      if (timer !== undefined) return;
      const waitMs = sentAt + MAIL_WINDOW_MS - performance.now();
      timer = waitMs > 0 ? setTimeout(leave, waitMs) : setImmediate(leave);
    },
    withdraw: (sender) => void senders.delete(sender),
  };
}

/** Makes the mail that leaves on a thread's port. `taken`: see `ThreadTask`. */
export function openMail(port: Pick<MessagePort, 'postMessage'>, taken: Int32Array): Mail {
  let sent = 0;
  return makeMail(
    (parcels) => {
      sent = (sent + 1) | 0;
      port.postMessage(parcels satisfies News);
    },
    () => Atomics.load(taken, 0) === sent,
  );
}
