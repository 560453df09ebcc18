// What a tab of the desk is to the page, and what several of them are made of.
import type { Entry } from '../../tui/feed/entries.ts';
import type { TabName } from '../../tui/state/desk-state.ts';
import { type Child, h } from '../page/element.ts';
import type { FedTab, TabInput } from './sight.ts';

export interface TabView {
  readonly element: HTMLElement;
  readonly draw: (input: TabInput) => void;
}

export interface Tab extends FedTab {
  readonly name: TabName;
  /** Its end is what one looks for first. */
  readonly startsAtEnd: boolean;
  readonly make: () => TabView;
}

/** A tool call in the live view. */
export type CallEntry = Extract<Entry, { readonly kind: 'tool' }>;

/** A name and its value. */
export function fact(name: string, value: Node | string): readonly Node[] {
  return [h('dt', {}, name), h('dd', {}, value)];
}

/** What is folded: its contents are made when they are first looked at. */
export function foldable(classes: string, head: readonly Child[], make: () => readonly Child[]): HTMLDetailsElement {
  const element = h('details', { class: classes }, h('summary', {}, ...head));
  element.addEventListener('toggle', () => element.append(h('div', { class: 'result' }, ...make())), { once: true });
  return element;
}

/** A text of several lines as it is. */
export function verbatim(text: string, classes = ''): HTMLElement {
  return h('pre', { class: classes, tabindex: '0' }, text);
}
