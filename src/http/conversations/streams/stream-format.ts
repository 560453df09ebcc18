// How a run is streamed in one format: each event of the journal as server-sent event.
import type { EventPayloads, EventType, JournalEvent } from '../../../domain/sessions/journal-event.ts';
import type { Run } from '../../../domain/sessions/run.ts';
import { eventFrame } from '../../../wire/event-frame.ts';
import type { ErrorFacts } from '../../replies/render-error.ts';

/** A server-sent event. `name` null makes a data-only event; a string of `data` is sent as it stands. */
export interface SentEvent {
  readonly name: string | null;
  readonly data: object | string;
}

export interface StreamFormat {
  /** An event of the journal; null when the format doesn't have it. */
  readonly event: (event: JournalEvent, run: Run) => SentEvent | null;
  /** Events that only clients get that ask for what tools do. */
  readonly toolEvents: ReadonlySet<EventType>;
  /** `always`, or only to clients that ask. */
  readonly ids: 'always' | 'on request';
  /** Sent in silence. */
  readonly ping: SentEvent | 'comment';
  /** Ends a stream early. */
  readonly error: (facts: ErrorFacts) => SentEvent;
  /** Sent to a client that rejoins after the run's last event. */
  readonly epilogue: (run: Run) => SentEvent | null;
  /** Present where events tell again what earlier ones have told: then each stream reads its run from the first event, by itself. */
  readonly retell?: (run: Run, from: Position) => Retelling;
}

/** What a reader has of a run's stream. */
export interface Position {
  /** Journal id of the last event; 0: none. */
  readonly afterId: number;
  /** The number of the last event, in a format that numbers them; -1: none. */
  readonly afterNumber: number;
}

/** The whole of one stream, of which its reader gets what it doesn't have. */
export interface Retelling {
  /** What the next event of the journal becomes. */
  event(event: JournalEvent): readonly SentEvent[];
  /** Ends the stream early. */
  error(facts: ErrorFacts): SentEvent;
  /** After the run's last event. */
  epilogue(): SentEvent | null;
}

/** A format's events by type: each becomes one event, or none. `at`: when it happened. */
export type EventTable<E> = {
  readonly [T in EventType]?: (payload: EventPayloads[T], run: Run, at: number) => E | null;
};

/** What a table says of an event. */
export function lookUp<E>(table: EventTable<E>, { type, payload, createdAt }: JournalEvent, run: Run): E | null {
  const render = table[type] as ((payload: object, run: Run, at: number) => E | null) | undefined;
  return render?.(payload, run, createdAt) ?? null;
}

/** The bytes of an event. `id` null leaves the reader's last id as it is. */
export function frameOf({ name, data }: SentEvent, id: number | null): Buffer {
  return eventFrame({ name, id, data: typeof data === 'string' ? data : JSON.stringify(data) });
}

/** Renders an event of a run; null when the format doesn't have it. */
export type EventRenderer = (event: JournalEvent, run: Run) => Buffer | null;

/**
 * A renderer that remembers the last event, which is sent to the readers of its run one after another. It remembers no more: a piece of
 * text is most often the only event of its commit, and has one reader.
 */
export function makeEventRenderer({ event: render }: StreamFormat, ids: boolean): EventRenderer {
  let last: JournalEvent | undefined;
  let lastFrame: Buffer | null = null;
  return (event, run) => {
    if (event === last) return lastFrame;
    const sent = render(event, run);
    last = event;
    lastFrame = sent === null ? null : frameOf(sent, ids ? event.id : null);
    return lastFrame;
  };
}
