// Every event as it came: its id, its place in the run, its type and payload.
import type { OfficeEvent } from '../../client/office-stream.ts';
import { cell, type Line, span } from '../text/line.ts';
import { shownEvents } from '../feed/event-log.ts';
import { rememberLines, textLines } from '../transcript/blocks.ts';
import type { Tab } from './tab.ts';

const MAX_CHARACTERS = 4000;
/** From so many columns on, the longest type of an event is whole. */
const ROOMY = 90;

const linesOf = rememberLines((event: OfficeEvent, { width }, isUnfolded: boolean) => {
  const payload = JSON.stringify(event.payload, null, isUnfolded ? 2 : undefined).slice(0, MAX_CHARACTERS);
  const id = String(event.id).padStart(7);
  const seq = (event.stream_seq === null ? '' : `#${event.stream_seq}`).padStart(6);
  const types = width < ROOMY ? 21 : 26;
  const head = [span(id, 'dim'), span(seq, 'dim'), span('  '), cell(event.type, types, 'accent')];
  const room = Math.max(0, width - 15 - types);
  const first: Line = { spans: [...head, ...(isUnfolded ? [] : [cell(` ${payload}`, room, 'dim')])] };
  return isUnfolded ? [first, ...textLines(payload, width, 'dim', 4)] : [first];
});

export const events: Tab = {
  name: 'events',
  title: 'Events',
  shortTitle: 'Events',
  items: (screen, _data, room) => {
    const list = shownEvents(screen);
    return {
      count: list.length,
      keyAt: (at) => list[at]?.id ?? 0,
      linesAt: (at) => {
        const event = list[at];
        return event === undefined ? [] : linesOf(event, room, screen.isUnfolded);
      },
      startsAtEnd: true,
    };
  },
};
