// Every event as it came: its id, its place in the run, its type and payload.
import type { OfficeEvent } from '../../client/office-stream.ts';
import { shownEvents } from '../../tui/feed/event-log.ts';
import { h, setShown } from '../page/element.ts';
import { type ItemView, keyedList } from '../page/keyed.ts';
import { safeLine, safeText } from '../page/safe-text.ts';
import { foldable, type Tab, type TabView, verbatim } from './tab-view.ts';

const MOST_CHARACTERS = 4000;
/** The newest are drawn, and more of the past each time it is asked for. */
const PAGE = 300;

function eventsTab(): TabView {
  const more = h('button', { type: 'button', class: 'quiet', 'data-redraw': true }, 'Earlier events');
  const list = h('div', { class: 'list' });
  const element = h('div', { class: 'events' });
  let shown = PAGE;
  more.addEventListener('click', () => {
    shown += PAGE;
  });
  const views = keyedList<OfficeEvent>(list, ({ id }) => String(id), eventView);
  return {
    element,
    draw({ screen }) {
      const events = shownEvents(screen);
      if (events.length > 0 && !list.isConnected) element.append(more, list);
      views.draw(events.slice(-shown));
      setShown(more, events.length > shown);
    },
  };
}

function eventView(event: OfficeEvent): ItemView<OfficeEvent> {
  const head = [
    h('span', { class: 'id dim' }, String(event.id)),
    h('span', { class: 'seq dim' }, event.stream_seq === null ? '' : `#${event.stream_seq}`),
    h('span', { class: 'type is-accent' }, safeLine(event.type, 60)),
    h('bdi', { class: 'dim' }, safeLine(JSON.stringify(event.payload).slice(0, 300))),
  ];
  const make = () => [verbatim(safeText(JSON.stringify(event.payload, null, 2), MOST_CHARACTERS))];
  return { element: foldable('event', head, make), draw: () => undefined };
}

export const events: Tab = { name: 'events', startsAtEnd: true, make: eventsTab };
