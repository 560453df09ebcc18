// What a call changes in a file, as lines that go and lines that come.
import { h } from '../page/element.ts';
import { safeText } from '../page/safe-text.ts';
import type { CallEntry } from './tab-view.ts';

/** The elements; none for a call that changes no file. */
export function changeView(entry: CallEntry): readonly Node[] {
  void entry;
  void safeText;
  void h;
  return [];
}
