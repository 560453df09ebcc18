// A tail: one reader's way through the events of a run, old ones from the store, live ones from the bus.
import { type JournalEvent, TERMINAL_EVENTS } from '../domain/journal-event.ts';
import type { Run } from '../domain/run.ts';
import type { Events } from '../store/sessions/events.ts';
import type { Bus } from './bus.ts';

/** What a reader does with events. A returned promise is waited for: a slow reader is fed from the store meanwhile. */
export interface TailListener {
  events(events: readonly JournalEvent[]): void | Promise<void>;
  /** After the run's terminal event was delivered. */
  end(): void;
}

export interface Tail {
  close(): void;
}

export interface Tails {
  /** Delivers a run's committed events with an id above `afterId`, each once and in order, until its terminal event. */
  follow(run: Pick<Run, 'seq'>, afterId: number, listener: TailListener): Tail;
}

const PAGE = 500;

export function makeTails({ bus, events }: { bus: Bus; events: Events }): Tails {
  return {
    follow: (run, afterId, listener) => {
      let cursor = afterId;
      let closed = false;
      let waiting = false;

      function close(): void {
        closed = true;
        subscription.close();
      }

      /** Delivers some events; answers whether more may follow at once. */
      function deliver(batch: readonly JournalEvent[]): boolean {
        const last = batch.at(-1)!;
        const fresh = batch[0]!.id > cursor ? batch : batch.filter((event) => event.id > cursor);
        cursor = Math.max(cursor, last.id);
        const pause = fresh.length > 0 ? listener.events(fresh) : undefined;
        // Also when the reader claims to be past it: it would wait for ever.
        if (TERMINAL_EVENTS.has(last.type)) {
          close();
          if (pause === undefined) listener.end();
          else void pause.then(() => listener.end());
          return false;
        }
        if (pause === undefined) return !closed;
        waiting = true;
        void pause.then(() => {
          waiting = false;
          catchUp();
          // What is left of the run was erased while the reader was slow.
          if (closed || waiting || !events.isOver(run.seq)) return;
          close();
          listener.end();
        });
        return false;
      }

      /** Reads the store up to its end. In the same turn of the event loop the bus takes over, so nothing falls between. */
      function catchUp(): void {
        while (!closed && !waiting) {
          const page = events.listOfRun(run.seq, cursor, PAGE);
          if (page.length === 0 || !deliver(page)) return;
        }
      }

      const subscription = bus.subscribe(run.seq, (live) => {
        if (!waiting && !closed) deliver(live);
      });
      catchUp();
      return { close };
    },
  };
}
