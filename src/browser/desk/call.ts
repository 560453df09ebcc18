// A tool call, folded: what it does in one line; unfolded, what it changes and what came of it.
import { spokenMs } from '../../domain/figures.ts';
import { CUT } from '../../tui/state/call-words.ts';
import { h, setClass, setText } from '../page/element.ts';
import { glyphView } from '../page/glyph.ts';
import { safeLine, safeText } from '../page/safe-text.ts';
import { countsOf, inputView } from './change.ts';
import { type CallEntry, verbatim } from './tab-view.ts';

export interface CallView {
  readonly element: HTMLDetailsElement;
  readonly draw: (entry: CallEntry) => void;
  readonly unfold: (isUnfolded: boolean) => void;
}

const note = (text: string) => h('p', { class: 'dim' }, text);

/** Its contents are made when they are first looked at. */
export function callView(): CallView {
  const counts = h('span', { class: 'dim' });
  const [glyph, text, time] = [glyphView(), h('bdi'), h('span', { class: 'dim' })];
  const head = h('summary', {}, glyph, h('span', { class: 'what' }, text), counts, time);
  const body = h('div', { class: 'result' });
  const element = h('details', { class: 'call' }, head, body);
  let entry: CallEntry | null = null;
  let made: CallEntry | null = null;
  let input: CallEntry['input'] = null;

  const make = () => {
    if (!element.open || entry === null || made === entry) return;
    made = entry;
    const { name, input, result } = entry;
    const output = safeText(result?.output.trimEnd() ?? '');
    body.replaceChildren(
      ...(input === null ? [] : inputView(name, input.value)),
      ...(input?.isCut === true ? [note(CUT)] : []),
      ...(output === '' ? [] : [verbatim(output, result?.ok === false ? 'is-failed' : '')]),
      ...(result?.isCut === true ? [note(CUT)] : []),
      ...(result === null ? [note('It works…')] : []),
    );
  };
  element.addEventListener('toggle', make);

  return {
    element,
    unfold(isUnfolded) {
      element.open = isUnfolded;
    },
    draw(next) {
      if (next === entry) return;
      const hasJustFailed = next.result?.ok === false && entry?.result?.ok !== false;
      entry = next;
      const { result } = next;
      setText(glyph, result?.ok === false ? '✗' : '▸');
      setText(text, safeLine(next.text));
      if (next.input !== input) setText(counts, countsOf(next));
      ({ input } = next);
      setText(time, result === null ? '…' : spokenMs(result.durationMs));
      setClass(element, `call is-${result === null ? 'running' : result.ok ? 'completed' : 'failed'}`);
      // Errors show why.
      if (hasJustFailed) element.open = true;
      make();
    },
  };
}
