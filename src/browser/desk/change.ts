// What a call changes in a file, as lines that go and lines that come.
import { changesOf } from '../../tui/state/changes.ts';
import { h } from '../page/element.ts';
import { safeText } from '../page/safe-text.ts';
import type { CallEntry } from './tab-view.ts';

/** How many lines come and go: `+2 -1`; empty for a call that changes none. */
export function countsOf({ name, input }: CallEntry): string {
  const changes = input === null ? null : changesOf(name, input.value);
  if (changes === null) return '';
  return [changes.added > 0 ? `+${changes.added}` : '', changes.removed > 0 ? `-${changes.removed}` : '']
    .filter((count) => count !== '')
    .join(' ');
}

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
    h('pre', { class: 'diff', tabindex: '0', 'aria-label': safeText(text, 200) }, ...lines),
    ...(isCut ? [h('p', { class: 'dim' }, '… and more')] : []),
  ];
}
