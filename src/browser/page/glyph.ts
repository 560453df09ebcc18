// The mark of a state, for eyes alone: a word stands beside it.
import { h } from './element.ts';

export function glyphView(text = '', role = 'plain'): HTMLElement {
  return h('span', { class: `glyph is-${role}`, 'aria-hidden': 'true' }, text);
}
