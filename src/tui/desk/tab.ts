// What a tab of the desk is: its names, what it reads, and its items.
import type { DeskState, TabName } from '../state/desk-state.ts';
import { type Line, type Role, span } from '../text/line.ts';
import { wrapAll } from '../text/wrap.ts';
import type { Pages } from '../feed/pages.ts';
import type { Source } from '../feed/sources.ts';
import type { Items, View } from './viewport.ts';

/** Where lines are for: columns, and the time zone of their times. */
export interface Room {
  readonly width: number;
  readonly tz: string;
}

export interface Tab {
  readonly name: TabName;
  readonly title: string;
  /** Where there is little room. */
  readonly shortTitle: string;
  /** Without one, the events suffice. */
  readonly source?: Source;
  /** What is to be read for what is in sight; without it, the source is read when it has changed. */
  readonly readNext?: (screen: DeskState, data: unknown, view: View) => 'older' | 'newest' | 'nothing' | undefined;
  /** `data` is what was read last; undefined before. */
  readonly items: (screen: DeskState, data: unknown, room: Room) => Items;
}

/** What pages of a list want: their past where the view comes to its end, and their newest where it returns to it. */
export function readNextOf(
  pages: Pages<unknown> | undefined,
  isInPast: boolean,
  comesToPast: boolean,
): 'older' | 'newest' | 'nothing' | undefined {
  if (pages === undefined) return undefined;
  if (comesToPast && pages.hasOlder) return 'older';
  if (pages.isAtEnd) return undefined;
  return isInPast ? 'nothing' : 'newest';
}

/** Items from the first on, all laid out: for tabs of few lines. */
export function plainItems(lines: readonly Line[]): Items {
  return { count: lines.length, keyAt: (at) => at, linesAt: (at) => lines.slice(at, at + 1), startsAtEnd: false };
}

/** Wrapped text as lines, with a margin before each. */
export function textLines(text: string, width: number, role: Role = 'plain', margin = 0): Line[] {
  const before = ' '.repeat(margin);
  return wrapAll(text, width - margin).map((line) => ({ spans: [span(before), span(line, role)] }));
}

/** At most so many lines, and how many more there are. */
export function folded(lines: readonly Line[], most: number, width: number, margin: number): readonly Line[] {
  const more = lines.length - most;
  if (more <= 0) return lines;
  return [
    ...lines.slice(0, most),
    ...textLines(`… ${more} more ${more === 1 ? 'line' : 'lines'}`, width, 'dim', margin),
  ];
}

/** Remembers the lines of items, which do not change, as long as the room and manner are the same. */
export function rememberLines<T extends object>(
  layOut: (item: T, room: Room, manner: boolean) => readonly Line[],
): (item: T, room: Room, manner: boolean) => readonly Line[] {
  const known = new WeakMap<T, { width: number; manner: boolean; lines: readonly Line[] }>();
  return (item, room, manner) => {
    const before = known.get(item);
    if (before?.width === room.width && before.manner === manner) return before.lines;
    const lines = layOut(item, room, manner);
    known.set(item, { width: room.width, manner, lines });
    return lines;
  };
}
