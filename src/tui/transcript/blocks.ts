// Blocks of lines that tabs are made of: wrapped text, folded or not, laid out once.
import type { Items } from './viewport.ts';
import { type Line, type Role, span } from '../text/line.ts';
import { wrapAll } from '../text/wrap.ts';

/** Where lines are for: columns, and the time zone of their times. */
export interface Room {
  readonly width: number;
  readonly tz: string;
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
export function rememberLines<T extends object, Manner extends boolean | string>(
  layOut: (item: T, room: Room, manner: Manner) => readonly Line[],
): (item: T, room: Room, manner: Manner) => readonly Line[] {
  const known = new WeakMap<T, { width: number; manner: Manner; lines: readonly Line[] }>();
  return (item, room, manner) => {
    const before = known.get(item);
    if (before?.width === room.width && before.manner === manner) return before.lines;
    const lines = layOut(item, room, manner);
    known.set(item, { width: room.width, manner, lines });
    return lines;
  };
}
