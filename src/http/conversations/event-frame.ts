// One server-sent event as bytes, and the renderers that turn journal events into them.
import type { EventPayloads, EventType, JournalEvent } from '../../domain/journal-event.ts';
import type { Run } from '../../domain/run.ts';

/** An event of a protocol. `name` null makes a data-only event; a string of `data` is sent as it stands. */
export interface WireEvent {
  readonly name: string | null;
  readonly data: object | string;
}

/** How a protocol tells each journal event: as one event, or not at all. */
export type EventTable = {
  readonly [T in EventType]?: (payload: EventPayloads[T], run: Run) => WireEvent | null;
};

/** The bytes of an event. `id` null leaves the reader's last id as it is. */
export function frameOf({ name, data }: WireEvent, id: number | null): Buffer {
  const idLine = id === null ? '' : `id: ${id}\n`;
  const nameLine = name === null ? '' : `event: ${name}\n`;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return Buffer.from(`${idLine}${nameLine}data: ${text}\n\n`);
}

/** Renders an event of a run, or answers null when the protocol does not tell it. */
export type EventRenderer = (event: JournalEvent, run: Run) => Buffer | null;

/** A renderer that makes the bytes of an event once, however many readers there are. */
export function makeEventRenderer(table: EventTable, ids: boolean): EventRenderer {
  const rendered = new WeakMap<JournalEvent, Buffer | null>();
  return (event, run) => {
    const known = rendered.get(event);
    if (known !== undefined) return known;
    const render = table[event.type] as ((payload: object, run: Run) => WireEvent | null) | undefined;
    const wire = render?.(event.payload, run) ?? null;
    const frame = wire === null ? null : frameOf(wire, ids ? event.id : null);
    rendered.set(event, frame);
    return frame;
  };
}
