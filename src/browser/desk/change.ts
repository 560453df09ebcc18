// What a call changes in a file, as lines that go and lines that come, or else what it was given.
import type { JsonObject } from '../../domain/json.ts';
import { inputTexts } from '../../tui/state/call-words.ts';
import { changesOf } from '../../tui/state/changes.ts';
import { h } from '../page/element.ts';
import { safeText } from '../page/safe-text.ts';
import { type CallEntry, verbatim } from './tab-view.ts';

/** How many lines come and go: `+2 -1`; empty for a call that changes none. */
export function countsOf({ name, input }: CallEntry): string {
  const changes = input === null ? null : changesOf(name, input.value);
  if (changes === null) return '';
  return [changes.added > 0 ? `+${changes.added}` : '', changes.removed > 0 ? `-${changes.removed}` : '']
    .filter((count) => count !== '')
    .join(' ');
}

const MARKS = { same: ' ', added: '+', removed: '-' } as const;

/** The elements; none for a call without an input. */
export function inputView(name: string, input: JsonObject): readonly Node[] {
  const changes = changesOf(name, input);
  if (changes === null) {
    const texts = inputTexts(input);
    return texts.length === 0 ? [] : [verbatim(safeText(texts.join('\n').trimEnd()), 'given')];
  }
  const lines = changes.lines.map(({ kind, text }) =>
    h('span', { class: kind }, `${MARKS[kind]} ${safeText(text, 2000)}`),
  );
  return [h('pre', { class: 'diff', tabindex: '0' }, ...lines)];
}
