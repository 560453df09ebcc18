// The messages of one run in their order: they come in two ways, its own port and the mail of its thread.
import type { Parcel } from '../../agent/port/mail.ts';
import type { SignalBatch } from '../../agent/port/protocol.ts';

export interface Sequence {
  take(parcel: Parcel): void;
  /** A message was lost, so nothing waits for it any more. */
  broken(): void;
  /** The port has closed. */
  close(): void;
}

/**
 * Delivers batches by their numbers. `over` is called when the port has closed and nothing waits: what the mail carries may arrive
 * later than what followed it on the port.
 */
export function makeSequence(deliver: (batch: SignalBatch) => void, over: () => void): Sequence {
  /** Those that came before one with a lower number; undefined until there are any. */
  let early: Map<number, SignalBatch> | undefined;
  let next = 0;
  let [isBroken, isClosed] = [false, false];

  function deliverEarly(): void {
    for (let batch = early?.get(next); batch !== undefined; batch = early?.get(next)) {
      early!.delete(next);
      next += 1;
      deliver(batch);
    }
    if (isClosed && (early === undefined || early.size === 0)) over();
  }

  return {
    take: ({ number, batch }) => {
      if (isBroken) return deliver(batch);
      if (number !== next) return void (early ??= new Map()).set(number, batch);
      next += 1;
      deliver(batch);
      deliverEarly();
    },
    broken: () => {
      isBroken = true;
      const rest = Array.from(early ?? []).toSorted(([a], [b]) => a - b);
      early = undefined;
      for (const [, batch] of rest) deliver(batch);
      deliverEarly();
    },
    close: () => {
      isClosed = true;
      deliverEarly();
    },
  };
}
