// How full the model's window is, as a bar: system, history, tools, free.
import { compact } from '../../domain/figures.ts';
import { contextSource } from '../../tui/feed/sources.ts';
import type { ContextUsageWire } from '../../wire/office/session.ts';
import { h } from '../page/element.ts';
import { redrawOn } from '../page/keyed.ts';
import { foreign } from '../page/foreign.ts';
import type { Tab, TabView } from './tab-view.ts';

function contextTab(): TabView {
  const element = h('div', { class: 'context' });
  const draw = redrawOn(element);
  return {
    element,
    draw: ({ data }) => draw(data, () => (data === undefined ? [] : contentsOf(data as ContextUsageWire))),
  };
}

function contentsOf({
  model,
  parts,
  used_tokens: used,
  used_percent: percent,
  context_window: window,
}: ContextUsageWire): readonly Node[] {
  const role = percent >= 90 ? 'failed' : percent >= 70 ? 'waiting' : 'strong';
  const total =
    window === null ? compact(used) : `${compact(used)} of ${compact(window)} tokens · ${Math.round(percent)} %`;
  const shares = [
    ['System', parts.system, 'accent'],
    ['History', parts.history, 'running'],
    ['Tools', parts.tools, 'waiting'],
    ...(window === null ? [] : [['Free', Math.max(0, window - used), 'faint'] as const]),
  ] as const;
  const sum = Math.max(
    1,
    shares.reduce((all, [, tokens]) => all + tokens, 0),
  );
  const stack = h('div', { class: 'stack', 'aria-hidden': 'true' });
  for (const [, tokens, part] of shares) {
    const piece = h('span', { class: `piece of-${part}` });
    piece.style.width = `${(tokens / sum) * 100}%`;
    stack.append(piece);
  }
  const rows = shares.map(([label, tokens, part]) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('span', { class: `key of-${part}`, 'aria-hidden': 'true' }), ` ${label}`),
      h('td', { class: 'number' }, compact(tokens)),
      h(
        'td',
        { class: 'number dim' },
        window === null || window === 0 ? '' : `${((tokens / window) * 100).toFixed(1)} %`,
      ),
    ),
  );
  return [
    h(
      'p',
      { class: 'line' },
      model === null ? 'No model was called yet' : foreign(model),
      h('span', { class: `is-${role}` }, total),
    ),
    stack,
    h('table', { class: 'shares' }, h('tbody', {}, ...rows)),
  ];
}

export const context: Tab = { name: 'context', startsAtEnd: false, source: contextSource, make: contextTab };
