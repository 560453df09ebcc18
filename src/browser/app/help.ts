// The list of keys, over whatever screen it was asked on.
import { MARKS } from '../../tui/state/run-style.ts';
import { h } from '../page/element.ts';

type KeyHint = readonly [key: string, meaning: string];

const ON_FLOOR: readonly KeyHint[] = [
  ['↑ ↓  j k', 'choose a run; g and G: the first and the last'],
  ['Enter', 'open the session'],
  ['/', 'find by title, person, team, activity or id'],
  ['t', 'choose a team: type to find it'],
  ['s', 'only one status, then the next'],
  ['o  O', 'order by the next column, by the one before'],
  ['r', 'the other way round'],
  ['y', 'copy the id of the session'],
  ['Esc', 'show everything'],
];

const ON_DESK: readonly KeyHint[] = [
  ['1-7  ← →', 'choose a tab'],
  ['↑ ↓  j k', 'scroll; the past is read as you come to it'],
  ['G', 'the newest; g: the oldest in memory'],
  ['n  N', 'the next call, the one before'],
  ['Enter', 'this call in full, and folded again'],
  ['e', 'everything in full, and folded again'],
  ['y', 'copy the id of the session'],
  ['Esc', 'back to the floor'],
];

const EVERYWHERE: readonly KeyHint[] = [
  ['p', 'pause the picture; again: continue'],
  ['?', 'these keys'],
];

export interface Help {
  readonly element: HTMLDialogElement;
  readonly toggle: () => void;
  readonly isOpen: () => boolean;
}

export function helpView(): Help {
  const close = h('button', { type: 'button' }, 'Close');
  const element = h(
    'dialog',
    { class: 'help', 'aria-labelledby': 'keys' },
    h('h2', { id: 'keys' }, 'Keys'),
    list('On the floor', ON_FLOOR),
    list('At a desk', ON_DESK),
    list('Everywhere', EVERYWHERE),
    h('p', { class: 'states' }, MARKS.join('   ')),
    close,
  );
  close.addEventListener('click', () => element.close());
  return {
    element,
    isOpen: () => element.open,
    toggle: () => (element.open ? element.close() : element.showModal()),
  };
}

function list(title: string, hints: readonly KeyHint[]): HTMLElement {
  const lines = hints.flatMap(([key, meaning]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, meaning)]);
  return h('section', {}, h('h3', {}, title), h('dl', {}, ...lines));
}
