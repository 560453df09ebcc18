// A tail: reads the events of a run for one reader, old ones from the store, live ones from the bus.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type JournalEvent, TERMINAL_EVENTS } from '../domain/sessions/journal-event.ts';
import type { Run } from '../domain/sessions/run.ts';
import type { Events, EventsOfRun } from '../store/journal/events.ts';
import type { Bus } from './bus.ts';

/** What a reader does with events. */
export interface TailListener {
  /** A returned promise is awaited: meanwhile, a slow reader's events come from the store. */
  events(events: readonly JournalEvent[]): void | Promise<void>;
  /** The reader has everything that is committed, and more will come. Called again after each pause. */
  live?(): void;
  /** After the run's terminal event was delivered, or when the reader already has it. */
  end(): void;
  /** The store could not be read. Nothing follows. */
  failed(error: unknown): void;
}

export interface Tail {
  close(): void;
}

export interface Tails {
  /**
   * Delivers a run's committed events with an id above `afterId`, each once and in order, until its terminal event.
   * Calls nothing before it has returned.
   */
  follow(run: Pick<Run, 'seq'>, afterId: number, listener: TailListener): Tail;
  /** Waits for the end of a run, without its events. Calls nothing before it has returned. */
  await(run: Pick<Run, 'seq'>, listener: Pick<TailListener, 'end' | 'failed'>): Tail;
}

const PAGE = 500;

export function makeTails({ bus, events }: { bus: Bus; events: Events }): Tails {
  return {
    follow: (run, afterId, listener) => follow({ bus, events, runSeq: run.seq }, afterId, listener),
    await: (run, listener) => awaitEnd({ bus, events, runSeq: run.seq }, listener),
  };
}

interface Followed {
  readonly bus: Bus;
  readonly events: Events;
  readonly runSeq: number;
}

function follow({ bus, events, runSeq }: Followed, afterId: number, listener: TailListener): Tail {
  let cursor = afterId;
  let closed = false;
  /** While the store is read, the bus delivers nothing: it only signals that the store has more. */
  let reading = true;
  let missed = false;

  function close(): void {
    closed = true;
    subscription.close();
  }

  /** Returns what has to be awaited. */
  function deliver(batch: readonly JournalEvent[]): void | Promise<void> {
    const last = batch.at(-1)!;
    const fresh = batch[0]!.id > cursor ? batch : batch.filter((event) => event.id > cursor);
    cursor = Math.max(cursor, last.id);
    const pause = fresh.length > 0 ? listener.events(fresh) : undefined;
    // Even if the reader claims to be past the end: it would wait forever.
    if (TERMINAL_EVENTS.has(last.type)) {
      close();
      if (pause === undefined) listener.end();
      else void pause.then(() => listener.end());
    }
    return pause;
  }

  /** Reads the store until nothing was committed during the last read. From there the bus takes over without a gap. */
  async function catchUp(): Promise<void> {
    for (let isOver = false; ; ) {
      missed = false;
      const page = await events.listOfRun(runSeq, cursor, PAGE);
      if (!closed && page.events.length > 0) await deliver(page.events);
      if (closed) return;
      if ((await hasMore(page)) || missed) continue;
      // Known before the last read, so nothing can follow. The reader has everything, or the rest was erased with its
      // session.
      if (isOver) {
        close();
        return listener.end();
      }
      isOver = await events.isOver(runSeq);
      if (closed) return;
      if (!isOver && !missed) break;
    }
    reading = false;
    listener.live?.();
  }

  function read(): void {
    if (closed) return;
    reading = true;
    catchUp().catch((error: unknown) => {
      if (closed) return;
      close();
      listener.failed(error);
    });
  }

  // Before the first read: events that are committed after it must reach a subscriber.
  const subscription = bus.subscribe(runSeq, (live) => {
    missed = true;
    if (reading || closed) return;
    const pause = deliver(live);
    if (pause === undefined) return;
    reading = true;
    void pause.then(read);
  });
  read();
  return { close };
}

/** Whether another page follows, before which others have their turn of the loop. */
async function hasMore({ events, isCut }: EventsOfRun): Promise<boolean> {
  if (events.length < PAGE && !isCut) return false;
  await nextTurn();
  return true;
}

function awaitEnd({ bus, events, runSeq }: Followed, { end, failed }: Pick<TailListener, 'end' | 'failed'>): Tail {
  let closed = false;
  const close = () => {
    closed = true;
    subscription.close();
  };
  const finish = () => {
    if (closed) return;
    close();
    end();
  };
  // Before the store is asked, so that no end is missed.
  const subscription = bus.subscribe(runSeq, (live) => {
    if (live.some(({ type }) => TERMINAL_EVENTS.has(type))) finish();
  });
  events.isOver(runSeq).then(
    (isOver) => {
      if (isOver) finish();
    },
    (error: unknown) => {
      if (closed) return;
      close();
      failed(error);
    },
  );
  return { close };
}
