// What a tab of the desk is: its names, what it reads, and its items.
import type { Client } from '../../client/client.ts';
import type { DeskState, TabName } from '../state/desk-state.ts';
import { type Line, type Role, span } from '../text/line.ts';
import { wrapAll } from '../text/wrap.ts';
import type { Items } from './viewport.ts';

export interface Tab {
  readonly name: TabName;
  readonly title: string;
  /** Where there is little room. */
  readonly shortTitle: string;
  /** Reads what the tab shows, when it is opened and after the session changed; without it, the events suffice. */
  readonly read?: (client: Client, sessionId: string) => Promise<unknown>;
  /** `data` is what was read last; undefined before. */
  readonly items: (screen: DeskState, data: unknown, width: number) => Items;
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
    ...textLines(`… ${more} more ${more === 1 ? 'line' : 'lines'}`, width, 'faint', margin),
  ];
}

/** Remembers the lines of items, which do not change, as long as the width and manner are the same. */
export function rememberLines<T extends object>(
  layOut: (item: T, width: number, manner: boolean) => readonly Line[],
): (item: T, width: number, manner: boolean) => readonly Line[] {
  const known = new WeakMap<T, { width: number; manner: boolean; lines: readonly Line[] }>();
  return (item, width, manner) => {
    const before = known.get(item);
    if (before?.width === width && before.manner === manner) return before.lines;
    const lines = layOut(item, width, manner);
    known.set(item, { width, manner, lines });
    return lines;
  };
}
