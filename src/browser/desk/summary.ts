// The session in figures, from its first words to its last ones.
import { compact, spokenMs } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import { summarySource } from '../../tui/feed/sources.ts';
import type { OfficeSummaryWire } from '../../wire/office/session.ts';
import { h } from '../page/element.ts';
import { redrawOn } from '../page/keyed.ts';
import { safeText } from '../page/safe-text.ts';
import { fact, type Tab, type TabView } from './tab-view.ts';

type Line = readonly [label: string, value: (summary: OfficeSummaryWire) => string | null, role?: string];

const LINES: readonly Line[] = [
  ['Title', ({ title }) => title, 'strong'],
  ['Status', ({ status }) => status],
  ['Session', ({ session_id: id }) => id, 'dim'],
  ['Cost', ({ total_cost_usd: cost }) => money(cost), 'money'],
  ['Tokens', (s) => `${compact(s.total_tokens)} · ${compact(s.input_tokens)} in · ${compact(s.output_tokens)} out`],
  ['At work', ({ duration_ms: ms }) => spokenMs(ms)],
  ['Runs', ({ run_count: count }) => compact(count)],
  ['Messages', ({ message_count: count }) => compact(count)],
  ['Tool calls', ({ tool_execution_count: count }) => compact(count)],
  ['Files', ({ artifact_count: count }) => compact(count)],
  ['First', ({ first_message_preview: text }) => text],
  ['Last', ({ last_message_preview: text }) => text],
  ['Last error', ({ last_error: text }) => text, 'failed'],
];

function summaryTab(): TabView {
  const element = h('dl', { class: 'summary' });
  const draw = redrawOn(element);
  return {
    element,
    draw: ({ data }) =>
      draw(data, () =>
        LINES.flatMap(([label, valueOf, role = 'plain']) => {
          const value = data === undefined ? null : valueOf(data as OfficeSummaryWire);
          if (value === null || value === '') return [];
          return fact(label, h('bdi', { class: `is-${role}` }, safeText(value, 4000)));
        }),
      ),
  };
}

export const summary: Tab = { name: 'summary', startsAtEnd: false, source: summarySource, make: summaryTab };
