// The tabs of the desk, in the order of their keys.
import type { TabName } from '../../tui/state/desk-state.ts';
import { context } from './context.ts';
import { events } from './events.ts';
import { files } from './files.ts';
import { live } from './live.ts';
import { messages } from './messages.ts';
import { rounds } from './rounds.ts';
import { summary } from './summary.ts';
import type { Tab } from './tab-view.ts';

export const TABS: readonly Tab[] = [live, rounds, messages, files, context, events, summary];

export function tabOf(name: TabName): Tab {
  return TABS.find((tab) => tab.name === name) ?? live;
}

export const titleOf = (name: TabName): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
