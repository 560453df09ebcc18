// What a tab of the desk is to the page, and what several of them are made of.
import type { Entry } from '../../tui/feed/entries.ts';
import type { NextRead } from '../../tui/feed/read-session.ts';
import type { Source } from '../../tui/feed/sources.ts';
import type { DeskState, TabName } from '../../tui/state/desk-state.ts';
import { h } from '../page/element.ts';

/** What is in sight of a tab: its first item, its last. */
export interface Sight {
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
}

/** What a tab is drawn with. `data` is what its source read last; undefined before. */
export interface TabInput {
  readonly screen: DeskState;
  readonly data: unknown;
  readonly tz: string;
}

export interface TabView {
  readonly element: HTMLElement;
  readonly draw: (input: TabInput) => void;
}

export interface Tab {
  readonly name: TabName;
  /** Its end is what one looks for first. */
  readonly startsAtEnd: boolean;
  readonly source?: Source;
  readonly next?: (input: TabInput, sight: Sight) => NextRead;
  readonly make: () => TabView;
}

/** A tool call in the live view. */
export type CallEntry = Extract<Entry, { readonly kind: 'tool' }>;

/** A name and its value. */
export function fact(name: string, value: Node | string): readonly Node[] {
  return [h('dt', {}, name), h('dd', {}, value)];
}

/** A text of several lines as it is. */
export function verbatim(text: string, classes = ''): HTMLElement {
  return h('pre', { class: classes, tabindex: '0' }, text);
}
