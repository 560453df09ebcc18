// The tabs of the desk, in the order of their keys.
import type { TabName } from '../state/desk-state.ts';
import { context } from './context.ts';
import { events } from './events.ts';
import { files } from './files.ts';
import { live } from './live.ts';
import { messages } from './messages.ts';
import { rounds } from './rounds.ts';
import { summary } from './summary.ts';
import type { Tab } from './tab.ts';

export const TABS: readonly Tab[] = [live, rounds, messages, files, context, events, summary];

export function tabOf(name: TabName): Tab {
  return TABS.find((tab) => tab.name === name) ?? live;
}
