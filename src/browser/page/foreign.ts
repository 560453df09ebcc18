// Text that somebody chose, as an element.
import { h } from './element.ts';
import { safeLine } from './safe-text.ts';

/** On one line, apart from the direction of what is around it. */
export function foreign(text: string): HTMLElement {
  return h('bdi', {}, safeLine(text));
}
