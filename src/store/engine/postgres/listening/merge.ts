// Publishes events of this process and of others in the order of the journal, each once.
import type { JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import { type EventRow, eventOf } from '../../journal/rows.ts';
import type { Reader, Step } from '../../statement.ts';

export interface Merge {
  /** Everything behind this id is to be published. */
  begin(afterId: number): void;
  /** This process has committed events. */
  own(events: readonly JournalEvent[]): void;
  /** Others may have committed some. */
  look(): void;
  /** Resolves when everything is published that was committed until now. */
  close(): Promise<void>;
}

interface Parts {
  /** A page of events behind an id. */
  read(afterId: number): Promise<readonly JournalEvent[]>;
  publish(events: readonly JournalEvent[]): void;
}

const PAGE = 500;
const EVENTS_AFTER = `SELECT id, session_seq, run_seq, stream_seq, type, payload, created_at FROM events
  WHERE id > ? ORDER BY id LIMIT ${PAGE}`;

/** The verb that reads a page. */
export function* eventsAfter(tx: Reader, afterId: number): Step<readonly JournalEvent[]> {
  return (yield* tx.all<EventRow>(EVENTS_AFTER, afterId)).map(eventOf);
}

export function makeMerge({ read, publish }: Parts): Merge {
  /** The last event that was published, or that was there at the beginning. */
  let cursor = 0;
  let looking: Promise<void> | undefined;
  let isWanted = false;
  /** Events of this process, before which others may be. */
  let waiting: JournalEvent[] = [];

  function pass(events: readonly JournalEvent[]): void {
    const unknown = events.filter(({ id }) => id > cursor);
    if (unknown.length === 0) return;
    cursor = unknown.at(-1)!.id;
    publish(unknown);
  }

  /** Publishes those of this process that are next. Numbers that are missing are those of others, or of a transaction that was undone. */
  function passOwn(): void {
    waiting = waiting.filter(({ id }) => id > cursor);
    const isNext = waiting.every(({ id }, at) => id === cursor + 1 + at);
    if (isNext) pass(waiting.splice(0));
  }

  async function lookAll(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      // The next look tries again.
      const events = await read(cursor).catch(() => []);
      if (events.length === PAGE) isWanted = true;
      pass(events);
      passOwn();
    }
    looking = undefined;
  }

  function look(): void {
    isWanted = true;
    looking ??= lookAll();
  }

  return {
    begin: (afterId) => {
      cursor = afterId;
    },
    own: (events) => {
      waiting.push(...events);
      passOwn();
      if (waiting.length > 0) look();
    },
    look,
    close: async () => {
      while (looking !== undefined) await looking;
    },
  };
}
