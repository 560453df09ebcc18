// What a tab is drawn with, what of it is in sight, and what it has read for that. Shapes only.
import type { NextRead } from '../../tui/feed/read-session.ts';
import type { Source } from '../../tui/feed/sources.ts';
import type { DeskState } from '../../tui/state/desk-state.ts';

/** What is in sight of a tab: its first item, its last. */
export interface Sight {
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
}

/** `data` is what the tab's source read last; undefined before. */
export interface TabInput {
  readonly screen: DeskState;
  readonly data: unknown;
  readonly tz: string;
}

/** A tab as far as it reads. */
export interface FedTab {
  readonly source?: Source;
  readonly next?: (input: TabInput, sight: Sight) => NextRead;
}
