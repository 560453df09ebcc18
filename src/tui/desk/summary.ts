// The session in figures, from its first words to its last ones.
import { compact, spokenMs } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import type { OfficeSummaryWire } from '../../wire/office/session.ts';
import { summarySource } from '../feed/sources.ts';
import { EMPTY, type Line, type Role, span } from '../text/line.ts';
import { wrapAll } from '../text/wrap.ts';
import { plainItems } from '../transcript/blocks.ts';
import type { Tab } from './tab.ts';

type Row = readonly [label: string, value: (summary: OfficeSummaryWire) => string | null, role?: Role];

const ROWS: readonly (Row | null)[] = [
  ['Title', ({ title }) => title, 'strong'],
  ['Status', ({ status }) => status],
  ['Session', ({ session_id: id }) => id, 'dim'],
  null,
  ['Cost', ({ total_cost_usd: cost }) => money(cost), 'money'],
  ['Tokens', (s) => `${compact(s.total_tokens)} · ${compact(s.input_tokens)} in · ${compact(s.output_tokens)} out`],
  ['At work', ({ duration_ms: ms }) => spokenMs(ms)],
  null,
  ['Runs', ({ run_count: count }) => compact(count)],
  ['Messages', ({ message_count: count }) => compact(count)],
  ['Tool calls', ({ tool_execution_count: count }) => compact(count)],
  ['Files', ({ artifact_count: count }) => compact(count)],
  null,
  ['First', ({ first_message_preview: text }) => text],
  ['Last', ({ last_message_preview: text }) => text],
  ['Last error', ({ last_error: text }) => text, 'failed'],
];

const LABEL = 14;

function linesOf(summary: OfficeSummaryWire, width: number): readonly Line[] {
  return ROWS.flatMap((row): readonly Line[] => {
    if (row === null) return [EMPTY];
    const [label, valueOf, role = 'plain'] = row;
    const value = valueOf(summary);
    if (value === null || value === '') return [];
    return wrapAll(value, width - LABEL).map((text, at) => ({
      spans: [span((at === 0 ? label : '').padEnd(LABEL), 'dim'), span(text, role)],
    }));
  });
}

export const summary: Tab = {
  name: 'summary',
  title: 'Summary',
  shortTitle: 'Sum',
  source: summarySource,
  items: (_screen, data, { width }) => plainItems(data === undefined ? [] : linesOf(data as OfficeSummaryWire, width)),
};
