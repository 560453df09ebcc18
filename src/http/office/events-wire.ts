// Pages of events, as Office Mode sends them.
import type { EventPage } from '../../operations/office/watch.ts';
import { renderOfficeEvent } from '../../wire/journal-event.ts';
import type { officeEvents } from '../../wire/office/stream.ts';
import type { Static } from '../../wire/shapes/shape.ts';

/** A page; `afterId` is where the search began. */
export function renderEventPage(
  { sessionId, items, hasMore }: EventPage,
  afterId: number,
): Static<typeof officeEvents> {
  const ids = items.map(({ event }) => event.id);
  return {
    session_id: sessionId,
    items: items.map(({ event, runId }) => renderOfficeEvent(event, { sessionId, runId })),
    has_more: hasMore,
    next_after_id: Math.max(afterId, ...ids),
    next_before_id: ids.length === 0 ? null : Math.min(...ids),
  };
}
