// Renders events for who listens without a webhook.
import type { EventsPage, RenderedEvent } from '../../store/webhooks/read-events.ts';
import type { SampleEventWire, WebhookEventsWire } from '../../wire/webhooks/event.ts';

type Event = Pick<RenderedEvent, 'eventId' | 'eventType' | 'body'>;

export function renderSampleEvent({ eventId, eventType, body }: Event): SampleEventWire {
  return { event_id: eventId, event_type: eventType, body };
}

export function renderEvents({ events, nextAfterId, hasMore }: EventsPage): WebhookEventsWire {
  const items = events.map((event) => ({ id: event.id, ...renderSampleEvent(event) }));
  return { items, next_after_id: nextAfterId, has_more: hasMore };
}
