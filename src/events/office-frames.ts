// The events of Office Mode as bytes, each encoded once, however many streams send it.
import type { JournalEvent } from '../domain/sessions/journal-event.ts';
import { eventFrame } from '../wire/event-frame.ts';
import { type OfficeEventWire, renderOfficeEvent } from '../wire/journal-event.ts';
import type { Frame } from './past-pages.ts';
import type { EventScopes } from './event-scopes.ts';

/** An event, ready to be sent. */
export function frameOf(event: OfficeEventWire): Frame {
  const bytes = eventFrame({ id: event.id, name: event.type, data: JSON.stringify(event) });
  return { id: event.id, bytes, isLast: event.type === 'session.deleted' };
}

/** Makes the encoder of events whose scopes are known; it encodes each once. */
export function makeFrameOfEvent(scopes: Pick<EventScopes, 'known'>): (event: JournalEvent) => Frame {
  const made = new WeakMap<JournalEvent, Frame>();
  return (event) => {
    const known = made.get(event);
    if (known !== undefined) return known;
    const frame = frameOf(renderOfficeEvent(event, scopes.known(event)!));
    made.set(event, frame);
    return frame;
  };
}
