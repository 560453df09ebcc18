// The head of the desk: which session it is, what it does, and how the desk stands with its stream.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import { standingOf } from '../../tui/state/connection.ts';
import { rowOfDesk } from '../../tui/state/desk-row.ts';
import type { DeskState } from '../../tui/state/desk-state.ts';
import { doingOf, timeOf } from '../../tui/state/doing.ts';
import { hasNodes, type Row } from '../../tui/state/office.ts';
import { runStyleOf } from '../../tui/state/run-style.ts';
import { type AppState, officeShown } from '../../tui/state/state.ts';
import { h, setClass, setText } from '../page/element.ts';
import { glyphView } from '../page/glyph.ts';
import { safeLine } from '../page/safe-text.ts';

export interface Head {
  readonly element: HTMLElement;
  readonly draw: (state: AppState, screen: DeskState) => void;
  /** Those who hear the page begin at its heading. */
  readonly focus: () => void;
}

/** What its session is called. */
export function titleOfDesk(state: AppState, screen: DeskState): string {
  const row = rowOfDesk(state, screen);
  return row === undefined ? `Session ${screen.sessionId}` : safeLine(row.sessionTitle || row.title);
}

export function headView(root: string): Head {
  const glyph = glyphView();
  const [title, about] = [h('bdi'), h('bdi')];
  const [doing, standing, told] = [h('bdi'), h('span'), h('span', { class: 'unseen', role: 'status' })];
  const [time, tokens, cost] = [h('span'), h('span'), h('span', { class: 'is-money' })];
  const heading = h('h1', { tabindex: '-1' }, glyph, ' ', title);
  const element = h(
    'div',
    { class: 'head' },
    h('a', { class: 'back', href: root, 'data-floor': true }, '← Floor'),
    heading,
    h('p', { class: 'about' }, about, ' – ', doing),
    h('p', { class: 'figures' }, time, tokens, cost, standing, told),
  );
  return {
    element,
    focus: () => heading.focus({ preventScroll: true }),
    draw(state, screen) {
      const office = officeShown(state);
      const row = rowOfDesk(state, screen);
      const at = state.now + office.skewMs;
      setText(title, titleOfDesk(state, screen));
      setText(glyph, row === undefined ? '' : runStyleOf(row).glyph);
      setClass(glyph, `glyph is-${row === undefined ? 'dim' : runStyleOf(row).role}`);
      setText(about, row === undefined ? '' : aboutText(row, hasNodes(office)));
      const now = row === undefined ? null : doingOf(row, at);
      setText(doing, now === null ? '' : safeLine(`${now.isTail ? 'writes' : now.text}${now.after}`));
      setClass(doing, `is-${now?.role ?? 'dim'}`);
      setText(time, row === undefined ? '' : timeOf(row, at));
      setText(tokens, row === undefined ? '' : `${compact(row.tokens)} tokens`);
      setText(cost, row === undefined ? '' : money(row.cost));
      const stands = standingOn(screen, state);
      setText(standing, `${stands.glyph} ${stands.text}`);
      setClass(standing, `standing is-${stands.role}`);
      setText(told, `Session: ${stands.text}`);
    },
  };
}

function aboutText({ fullName, username, teamName, node }: Row, withNode: boolean): string {
  const parts = [fullName || username, teamName, withNode && node !== null ? `on ${node}` : null];
  return safeLine(parts.filter((part) => part !== null && part !== '').join(' · '));
}

function standingOn({ stream: { kind, failure }, log }: DeskState, { connection, now }: AppState) {
  if (kind === 'deleted') return { glyph: '✗', text: log.events.length > 0 ? 'deleted' : 'not there', role: 'failed' };
  if (!log.isAtEnd) return { glyph: '◌', text: 'the past', role: 'waiting' };
  if (kind === 'live') return { glyph: '●', text: 'live', role: 'running' };
  return standingOf(
    { ...connection, stream: 'connecting', streamFailure: failure, readFailure: null, retryAt: null, askedAt: null },
    now,
  );
}
