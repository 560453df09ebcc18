// How full the model's window is, as a bar: system, history, tools, free.
import { compact } from '../../domain/figures.ts';
import type { ContextUsageWire } from '../../wire/office/session.ts';
import { contextSource } from '../feed/sources.ts';
import { cell, EMPTY, type Line, lineOf, type Role, type Span, span } from '../text/line.ts';
import { plainItems } from '../transcript/blocks.ts';
import type { Tab } from './tab.ts';

interface Part {
  readonly label: string;
  readonly tokens: number;
  readonly glyph: string;
  readonly role: Role;
}

/** Distinct without colours too. */
function partsOf({ parts, used_tokens: used, context_window: window }: ContextUsageWire): readonly Part[] {
  return [
    { label: 'System', tokens: parts.system, glyph: '█', role: 'accent' },
    { label: 'History', tokens: parts.history, glyph: '▓', role: 'running' },
    { label: 'Tools', tokens: parts.tools, glyph: '▒', role: 'waiting' },
    ...(window === null
      ? []
      : [{ label: 'Free', tokens: Math.max(0, window - used), glyph: '░', role: 'faint' } as const]),
  ];
}

/** Columns of each part: the bar is full, and what there is has one column at least. */
function columnsOf(parts: readonly Part[], width: number): readonly number[] {
  const total = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  if (total === 0) return parts.map(() => 0);
  const columns = parts.map(({ tokens }) => (tokens === 0 ? 0 : Math.max(1, Math.round((tokens / total) * width))));
  const surplus = columns.reduce((sum, count) => sum + count, 0) - width;
  const widest = columns.indexOf(Math.max(...columns));
  return columns.map((count, at) => (at === widest ? Math.max(1, count - surplus) : count));
}

function linesOf(usage: ContextUsageWire, width: number): readonly Line[] {
  const parts = partsOf(usage);
  const room = Math.min(width, 100);
  const columns = columnsOf(parts, room);
  const bar = parts.map(({ glyph, role }, at): Span => span(glyph.repeat(columns[at] ?? 0), role));
  const { context_window: window, used_tokens: used, used_percent: percent } = usage;
  const role = percent >= 90 ? 'failed' : percent >= 70 ? 'waiting' : 'strong';
  const total =
    window === null ? compact(used) : `${compact(used)} of ${compact(window)} tokens · ${Math.round(percent)} %`;
  return [
    lineOf([cell(usage.model ?? 'No model was called yet', Math.max(1, room - 36), 'dim')], [span(total, role)], room),
    EMPTY,
    { spans: bar },
    { spans: bar },
    EMPTY,
    ...parts.map(({ label, tokens, glyph, role }): Line => {
      const share = window === null || window === 0 ? '' : `${((tokens / window) * 100).toFixed(1)} %`;
      return {
        spans: [
          span(`${glyph}${glyph} `, role),
          cell(label, 10),
          span(compact(tokens).padStart(8)),
          span(share.padStart(9), 'dim'),
        ],
      };
    }),
  ];
}

export const context: Tab = {
  name: 'context',
  title: 'Context',
  shortTitle: 'Ctx',
  source: contextSource,
  items: (_screen, data, { width }) => plainItems(data === undefined ? [] : linesOf(data as ContextUsageWire, width)),
};
