// Waits for events of some types: for requests that are held until something happens.
import type { Clock } from '../domain/clock.ts';
import type { EventType } from '../domain/sessions/journal-event.ts';
import type { Bus } from './bus.ts';

/** Events that someone expects, from its making until `close`. */
export interface Expectation {
  /** Resolves when one has been committed since the last time it did, after the time, or when the signal aborts. */
  arrival(timeMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Makes expectations. */
export interface Arrivals {
  expect(types: ReadonlySet<EventType>): Expectation;
}

interface Expecting {
  readonly types: ReadonlySet<EventType>;
  arrived: boolean;
  wake: () => void;
}

/** Makes them of one subscription, which costs a commit nothing while nobody expects anything. */
export function makeArrivals({ bus, clock }: { readonly bus: Bus; readonly clock: Clock }): Arrivals {
  const all = new Set<Expecting>();
  bus.subscribeAll((events) => {
    for (const one of all) {
      if (!events.some(({ type }) => one.types.has(type))) continue;
      one.arrived = true;
      one.wake();
    }
  });

  return {
    expect: (types) => {
      const own: Expecting = { types, arrived: false, wake: () => undefined };
      all.add(own);
      return {
        arrival: async (timeMs, signal) => {
          if (!own.arrived && !signal.aborted) await until(clock, { own, timeMs, signal });
          own.arrived = false;
        },
        close: () => void all.delete(own),
      };
    },
  };
}

interface Wait {
  readonly own: Expecting;
  readonly timeMs: number;
  readonly signal: AbortSignal;
}

function until(clock: Clock, { own, timeMs, signal }: Wait): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal.removeEventListener('abort', end);
      own.wake = () => undefined;
      resolve();
    };
    const timer = clock.after(timeMs, end);
    signal.addEventListener('abort', end, { once: true });
    own.wake = end;
  });
}
