// What a tab of the desk is: its names, what it reads, and its items.
import type { DeskState, TabName } from '../state/desk-state.ts';
import type { Pages } from '../feed/pages.ts';
import type { Source } from '../feed/sources.ts';
import type { Room } from '../transcript/blocks.ts';
import type { Items, View } from '../transcript/viewport.ts';

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
  /** All of it as plain text, piece by piece; without it, its lines. */
  readonly text?: (screen: DeskState, data: unknown) => Iterable<string>;
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
