// The teams: today's cost, the tightest budget, and how much flowed in the last hour.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import type { Office, Team } from '../../tui/state/office.ts';
import { budgetStandingOf, teamsInOrder } from '../../tui/state/teams.ts';
import { h, setAttribute, setClass, setShown, setText } from '../page/element.ts';
import { bar, graph } from '../page/graph.ts';
import { type ItemView, keyedList } from '../page/keyed.ts';
import { safeLine } from '../page/safe-text.ts';

const FEW = matchMedia('(max-width: 640px)').matches ? 3 : 6;
const HEADINGS = ['Team', 'Today', 'Budget', 'Tokens', 'Active', 'Last hour'];

export interface Teams {
  readonly element: HTMLElement;
  readonly draw: (office: Office, chosenId: string | null) => void;
}

export function teamsView(redraw: () => void): Teams {
  const headings = HEADINGS.map((title, at) =>
    h('th', { role: 'columnheader', scope: 'col', class: CLASSES[at] }, title),
  );
  const body = h('tbody', { role: 'rowgroup' });
  const table = h(
    'table',
    { class: 'teams', role: 'table', 'aria-labelledby': 'teams' },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ...headings)),
    body,
  );
  const more = h('button', { type: 'button', class: 'more', 'data-more': 'teams' });
  const element = h('section', { 'aria-labelledby': 'teams' }, h('h2', { id: 'teams' }, 'Teams'), table, more);
  let drawn: { readonly office: Pick<Office, 'teams' | 'flows' | 'budgets'>; readonly chosenId: string | null } | null =
    null;
  let areAll = false;
  let current: Office | null = null;
  const list = keyedList<Team>(
    body,
    ({ id }) => id,
    (team) => teamView(team, () => ({ office: current as Office, chosenId: drawn?.chosenId ?? null })),
  );
  more.addEventListener('click', () => {
    areAll = !areAll;
    drawn = null;
    redraw();
  });

  return {
    element,
    draw(office, chosenId) {
      const { teams, flows, budgets } = office;
      const same = drawn?.office.teams === teams && drawn.office.flows === flows && drawn.office.budgets === budgets;
      if (same && drawn?.chosenId === chosenId) return;
      drawn = { office, chosenId };
      current = office;
      const all = teamsInOrder(office);
      const few = all.filter(({ id }, at) => areAll || at < FEW || id === chosenId);
      list.draw(few);
      setShown(element, all.length > 0);
      setShown(more, all.length > FEW);
      setText(more, areAll ? 'Fewer teams' : `+${all.length - few.length} more`);
      setAttribute(more, 'aria-expanded', String(areAll));
    },
  };
}

const CLASSES = ['team', 'today', 'budget', 'tokens', 'active', 'hour'];

function teamView({ id }: Team, context: () => { office: Office; chosenId: string | null }): ItemView<Team> {
  const name = h('bdi');
  const choose = h('button', { type: 'button', 'data-team': id }, name);
  const [today, label, tokens, active] = [h('span'), h('span'), h('span'), h('span')];
  const [used, hour] = [bar(), graph()];
  const contents = [[choose], [today], [used.element, label], [tokens], [active], [hour.element]];
  const cells = contents.map((content, at) => h('td', { role: 'cell', class: CLASSES[at] }, ...content));
  const element = h('tr', { role: 'row' }, ...cells);
  return {
    element,
    draw(team) {
      const { office, chosenId } = context();
      const standing = budgetStandingOf(team, office.budgets.get(id));
      const minutes = office.flows.get(id)?.minutes ?? [];
      const sum = minutes.reduce<number>((total, value) => total + (value ?? 0), 0);
      setClass(element, id === chosenId ? 'chosen' : '');
      setText(name, safeLine(team.name));
      setAttribute(choose, 'aria-pressed', String(id === chosenId));
      setText(today, money(team.today_cost_usd));
      setShown(used.element, standing !== null);
      if (standing !== null) used.draw(standing.share, standing.role);
      setText(label, standing === null ? 'no budget' : `${Math.round(standing.share * 100)}% of ${standing.label}`);
      setClass(label, standing !== null && standing.share >= 1 ? 'is-failed' : 'is-dim');
      setText(tokens, compact(team.today_total_tokens));
      setText(active, compact(team.today_active));
      hour.draw(minutes, `${compact(Math.round(sum))} tokens in the last hour`);
    },
  };
}
