// The top of every screen: the counters of the office, how this page stands with the daemon, and the clock.
import { compact } from '../../domain/figures.ts';
import { clockOf } from '../../terminal/moments.ts';
import { money } from '../../terminal/money.ts';
import { standingOf } from '../../tui/state/connection.ts';
import type { Flow } from '../../tui/state/flow.ts';
import type { Office, RunStatus } from '../../tui/state/office.ts';
import { runStyleOf } from '../../tui/state/run-style.ts';
import { type AppState, officeShown } from '../../tui/state/state.ts';
import { flowOfAll } from '../../tui/state/teams.ts';
import { h, setAttribute, setClass, setText } from '../page/element.ts';
import { glyphView } from '../page/glyph.ts';
import { graph } from '../page/graph.ts';

const COUNTED = ['running', 'pending', 'completed', 'failed', 'idle'] as const satisfies readonly RunStatus[];

export interface Header {
  readonly element: HTMLElement;
  readonly draw: (state: AppState) => void;
}

export interface HeaderParts {
  readonly root: string;
  readonly pause: () => void;
  readonly help: () => void;
  readonly leave: () => void;
}

export function headerView({ root, pause, help, leave }: HeaderParts): Header {
  const counters = COUNTED.map((status) => {
    const { glyph, word, role } = runStyleOf({ status });
    const count = h('strong');
    const mark = glyphView(glyph, role);
    return { status, count, element: h('li', {}, mark, ' ', count, ' ', h('span', { class: 'word' }, word)) };
  });
  const [spent, slots] = [h('span', { class: 'spent' }), h('span', { class: 'slots' })];
  const [standing, clock] = [h('span', { class: 'standing' }), h('span', { class: 'clock' })];
  // Those who hear the page are told when the connection changes, and not each second.
  const told = h('span', { class: 'unseen', role: 'status' });
  const button = (text: string, act: () => void) => {
    const made = h('button', { type: 'button', class: 'quiet' }, text);
    made.addEventListener('click', act);
    return made;
  };
  const pauses = button('Pause', pause);
  const hour = graph();
  let flows: ReadonlyMap<string, Flow> | null = null;
  const element = h(
    'header',
    { class: 'top' },
    h('a', { class: 'brand', href: root, 'data-floor': true }, 'Errand office'),
    h('ul', { class: 'counters', 'aria-label': 'Runs of today' }, ...counters.map(({ element }) => element)),
    h('p', { class: 'figures' }, spent, slots),
    h('span', { class: 'all' }, hour.element),
    h('div', { class: 'state' }, standing, clock, told, pauses, button('Keys', help), button('Log out', leave)),
  );

  return {
    element,
    draw(state) {
      const office = officeShown(state);
      for (const { status, count } of counters) {
        setText(count, office.loadedAt === null ? '–' : compact(office.overview[status]));
      }
      if (office.flows !== flows) {
        flows = office.flows;
        hour.draw(flowOfAll(flows.values()), 'Tokens of all teams in the last hour, by minutes');
      }
      setText(spent, spentText(office));
      setText(slots, slotsText(office));
      const { glyph, text, role } = standingOf(state.connection, state.now);
      setText(standing, `${state.frozen === null ? '' : '‖ paused  '}${glyph} ${text}`);
      setClass(standing, `standing is-${role}`);
      setText(told, text.replace(/,? again in \d+ s| \(\d+ s\)/, ''));
      setText(clock, clockOf(state.now + office.skewMs, state.preferences.tz));
      setText(pauses, state.frozen === null ? 'Pause' : 'Continue');
      setAttribute(pauses, 'aria-pressed', String(state.frozen !== null));
    },
  };
}

function spentText({ overview, loadedAt }: Office): string {
  if (loadedAt === null) return '';
  return `today ${money(overview.total_cost_usd)} · ${compact(overview.total_tokens)} tokens`;
}

function slotsText({ queue }: Office): string {
  if (queue === null) return '';
  const waiting = queue.total > 0 ? ` · queue ${compact(queue.total)}` : '';
  const { nodes } = queue;
  const all = nodes === undefined ? 1 : nodes.online + nodes.draining;
  const nodesText = all <= 1 ? '' : ` · nodes ${nodes?.draining === 0 ? all : `${nodes?.online}/${all}`}`;
  return `slots ${queue.busy}/${queue.slots}${waiting}${nodesText}`;
}
