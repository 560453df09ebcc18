// The worker's end of its thread's port, which all runs of the thread share.
import type { MessagePort } from 'node:worker_threads';
import type { Outbox } from './outbox.ts';
import type { Control, Message, Signal, Start, ThreadControl } from './protocol.ts';

/** One run's share of the port. */
export interface RunPort {
  send(signal: Signal): void;
  /** `closed` is called once nothing more is received: what is awaited will not come. */
  listen(receive: (control: Control) => void, closed: () => void): void;
  /** Sends what waits, and receives nothing more. */
  close(): void;
}

interface Listener {
  readonly receive: (control: Control) => void;
  readonly closed: () => void;
}

/** Starts the runs that the main thread sends, and gives each its controls. Resolves when the main thread closes the port. */
export function serveRuns(
  port: MessagePort,
  outbox: Outbox,
  begin: (start: Start, port: RunPort) => void,
): Promise<void> {
  const listeners = new Map<number, Listener>();
  const shareOf = (run: number): RunPort => ({
    send: (signal) => outbox.add(run, signal),
    listen: (receive, closed) => void listeners.set(run, { receive, closed }),
    close: () => {
      outbox.flush(run);
      const listener = listeners.get(run);
      listeners.delete(run);
      listener?.closed();
    },
  });
  port.on('message', (message: ThreadControl) => {
    if (message === 'ping') port.postMessage([] satisfies Message);
    else if ('brief' in message) begin(message, shareOf(message.run));
    else listeners.get(message.run)?.receive(message.control);
  });
  // It is unknown whose message it was: the thread ends, and each of its runs is executed again.
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
