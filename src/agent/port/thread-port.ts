// The worker's end of its thread's port, which all runs of the thread share.
import type { MessagePort } from 'node:worker_threads';
import type { Parcel } from './mail.ts';
import type { Control, Order, SignalBatch, Start } from './protocol.ts';

/** One run's share of the port. */
export interface RunPort {
  /** Throws when the message can't be sent. */
  post(parcel: Parcel): void;
  /** `closed` is called once nothing more is received: what is awaited will not come. */
  listen(receive: (control: Control) => void, closed: () => void): void;
  close(): void;
}

/** Sent when the real outcome can't be: the run is executed again. */
export const ENDED_WITHOUT_OUTCOME: SignalBatch = [{ t: 'done', outcome: { status: 'canceled' }, untouched: false }];
/** Not in the numbering of any run, so that the main thread notices a loss. */
const UNNUMBERED = -1;

interface Listener {
  readonly receive: (control: Control) => void;
  readonly closed: () => void;
}

/** Starts the runs that the main thread orders, and gives each what is for it. Resolves when the main thread closes the port. */
export function serveRuns(port: MessagePort, begin: (start: Start, port: RunPort) => void): Promise<void> {
  const listeners = new Map<number, Listener>();
  const shareOf = (line: number): RunPort => ({
    post: (parcel) => port.postMessage(parcel),
    listen: (receive, closed) => void listeners.set(line, { receive, closed }),
    close: () => {
      const listener = listeners.get(line);
      listeners.delete(line);
      listener?.closed();
    },
  });
  const pass = (line: number, control: Control) => {
    const listener = listeners.get(line);
    if (listener !== undefined) listener.receive(control);
    // The run has ended, and its last message may not have been readable.
    else if (control.t === 'ping')
      port.postMessage({ line, number: UNNUMBERED, batch: ENDED_WITHOUT_OUTCOME } satisfies Parcel);
  };
  port.on('message', (order: Order) => {
    if ('brief' in order) begin(order, shareOf(order.line));
    else pass(order.line, order.control);
  });
  // The main thread has less stack than this one: it can't send what is too deep to be read here. If it happens all the same, it
  // is unknown whose message it was. The thread ends, and each of its runs is executed again.
  port.on('messageerror', (error) => {
    throw error;
  });
  return new Promise((resolve) => {
    port.once('close', () => {
      for (const { closed } of listeners.values()) closed();
      resolve();
    });
  });
}
