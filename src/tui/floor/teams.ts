// The teams of the floor: today's cost, the tightest budget, and how much flowed in the last hour.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import { UNASSIGNED_TEAM_ID } from '../../wire/office/snapshot.ts';
import type { Flow } from '../state/flow.ts';
import type { Office, Team } from '../state/office.ts';
import {
  type BudgetStanding,
  budgetStandingOf,
  flowOfAll,
  pickableIds,
  teamsFound,
  teamsInOrder,
} from '../state/teams.ts';
import type { TeamPicker } from '../state/screens.ts';
import { indexOfChoice, windowStart } from '../state/visible.ts';
import { shownWidth } from '../text/fit.ts';
import { barOf, gather } from '../text/graphs.ts';
import { cell, clip, graph, type Line, lineOf, type Span, span } from '../text/line.ts';
import { type Column, layOut } from '../text/table.ts';

/** At most `rows` lines, with a heading. The chosen team is always among them; what there is no room for is summed up in the last one. */
export function teamLines(office: Office, chosenId: string | null, width: number, rows: number): readonly Line[] {
  const teams = teamsInOrder(office);
  if (rows < 2 || teams.length === 0) return [];
  const room = rows - 1;
  const shown = teams.length > room ? teams.slice(0, Math.max(1, room - 1)) : teams;
  const chosen = teams.find(({ id }) => id === chosenId);
  const kept = chosen === undefined || shown.includes(chosen) ? shown : [...shown.slice(0, -1), chosen];
  const rest = teams.filter((team) => !kept.includes(team));
  const { heading, row } = layOut(columnsFor(office), width - 3);
  return [
    { spans: [span('  '), ...heading.spans] },
    ...kept.map((team) => ({ spans: [span(team.id === chosenId ? '❯ ' : '  ', 'accent'), ...row(team)] })),
    ...(rest.length === 0 || kept.length === room ? [] : [moreLine(office, rest, width)]),
  ];
}

const MORE = '+';

/** How many teams more there are, with their sums. */
function moreLine({ flows }: Office, rest: readonly Team[], width: number): Line {
  const sum = (figure: (team: Team) => number) => rest.reduce((total, team) => total + figure(team), 0);
  const more = {
    id: MORE,
    name: `+${rest.length} more: t`,
    today_cost_usd: sum((team) => team.today_cost_usd),
    today_total_tokens: sum((team) => team.today_total_tokens),
    today_active: sum((team) => team.today_active),
  };
  const minutes = flowOfAll(rest.flatMap(({ id }) => flows.get(id) ?? []));
  const { row } = layOut(columnsFor({ flows: new Map([[MORE, { minutes }]]), budgets: new Map() }), width - 3);
  return { spans: [span('  '), ...row({ ...rest[0]!, ...more })] };
}

/** All teams, the chosen one and what is typed: a list to choose from, as high as the screen. */
export function pickerLines(office: Office, picker: TeamPicker, width: number, rows: number): readonly Line[] {
  const teams = teamsFound(office, picker);
  const { heading, row } = layOut(columnsFor(office), width - 3);
  const ids = pickableIds(office, picker);
  const chosen = indexOfChoice(ids, picker.chosen);
  const room = rows - 2;
  const start = windowStart(ids.length, chosen, room);
  const all = picker.find.trim() === '' ? [[span('All teams', 'strong')]] : [];
  const items = [...all, ...teams.map((team) => row(team))];
  const lines = items.slice(start, start + room).map((spans, at): Line => {
    const selected = start + at === chosen;
    return { spans: clip([span(selected ? '❯ ' : '  ', 'accent'), ...spans], width), selected };
  });
  const typed = cell(picker.find, Math.min(width - 40, shownWidth(picker.find)), 'accent');
  const title =
    picker.find === ''
      ? [span('  Choose a team', 'strong'), span(' · type to find it', 'dim')]
      : [span('  Team: ', 'strong'), typed, span('▏', 'dim')];
  return [
    lineOf(title, [span(`${chosen + 1}/${ids.length} `, 'dim')], width),
    { spans: [span('  '), ...heading.spans] },
    ...(lines.length === 0 ? [{ spans: [span('  No team has that in its name.', 'dim')] }] : lines),
  ];
}

interface Known {
  readonly flows: ReadonlyMap<string, Pick<Flow, 'minutes'>>;
  readonly budgets: Office['budgets'];
}

function columnsFor({ flows, budgets }: Known): readonly Column<Team>[] {
  const right = { align: 'end' } as const;
  return [
    {
      title: 'TEAM',
      width: 14,
      most: 22,
      worth: 100,
      cell: ({ id, name }) => span(name, id === UNASSIGNED_TEAM_ID || id === MORE ? 'dim' : 'plain'),
    },
    { title: 'TODAY', width: 8, worth: 90, ...right, cell: (team) => span(money(team.today_cost_usd), 'money') },
    {
      title: 'BUDGET',
      width: 20,
      most: 32,
      worth: 80,
      cell: (team, width) => (team.id === MORE ? [] : budgetCell(budgetStandingOf(team, budgets.get(team.id)), width)),
    },
    { title: 'TOKENS', width: 6, worth: 50, ...right, cell: (team) => span(compact(team.today_total_tokens), 'dim') },
    { title: 'ACTIVE', width: 6, worth: 40, ...right, cell: (team) => span(compact(team.today_active), 'dim') },
    {
      title: 'LAST HOUR',
      width: 12,
      most: 60,
      worth: 60,
      cell: ({ id }, width) => graph(gather(flows.get(id)?.minutes ?? [], width)),
    },
  ];
}

function budgetCell(standing: BudgetStanding | null, width: number): readonly Span[] {
  if (standing === null) return [span('no budget', 'dim')];
  const { share, role } = standing;
  const label = ` ${standing.label}`;
  const [filled, rest] = barOf(share, Math.max(0, width - label.length));
  return [span('━'.repeat(filled), role), span('─'.repeat(rest), 'faint'), span(label, share >= 1 ? 'failed' : 'dim')];
}
