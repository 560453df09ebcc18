// A run's share of a port that no other run uses.
import type { MessagePort } from 'node:worker_threads';
import type { RunPort } from '../../src/agent/port/thread-port.ts';

/** The share of the only run on a port. */
export function aloneOn(port: MessagePort): RunPort {
  return {
    post: (parcel) => port.postMessage(parcel),
    listen: (receive, closed) => {
      port.on('message', receive);
      port.once('close', closed);
    },
    close: () => port.close(),
  };
}
