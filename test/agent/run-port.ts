// A run's share of a port that no other run uses.
import type { MessagePort } from 'node:worker_threads';
import { makeOutbox } from '../../src/agent/port/outbox.ts';
import type { RunPort } from '../../src/agent/port/serve-runs.ts';

/** The share of the only run on a port. */
export function aloneOn(port: MessagePort): RunPort {
  const outbox = makeOutbox(
    (message) => port.postMessage(message),
    () => true,
  );
  return {
    send: (signal) => outbox.add(1, signal),
    listen: (receive, closed) => {
      port.on('message', receive);
      port.once('close', closed);
    },
    close: () => {
      outbox.flush(1);
      port.close();
    },
  };
}
