// What a call changes in a file, as lines that go and lines that come.
import { changesOf } from '../../tui/state/changes.ts';
import { h } from '../page/element.ts';
import { safeText } from '../page/safe-text.ts';
import type { CallEntry } from './tab-view.ts';

const MARKS = { same: ' ', added: '+', removed: '-' } as const;
const MOST_LINES = 1000;

/** The elements; none for a call that shows no text of a file. */
export function changeView({ name, input, text }: CallEntry): readonly Node[] {
  const changes = input === null ? null : changesOf(name, input.value);
  if (input === null || changes === null) return [];
  const lines = changes.lines
    .slice(0, MOST_LINES)
    .map(({ kind, text: line }) => h('span', { class: kind }, `${MARKS[kind]} ${safeText(line, 2000)}`));
  const isCut = input.isCut || changes.lines.length > MOST_LINES;
  return [
    h('p', { class: 'dim' }, `+${changes.added} −${changes.removed}`),
    h('pre', { class: 'diff', tabindex: '0', 'aria-label': safeText(text, 200) }, ...lines),
    ...(isCut ? [h('p', { class: 'dim' }, '… and more')] : []),
  ];
}
