// The teams of the floor: today's cost, the tightest budget, and how much flowed in the last hour.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import { UNASSIGNED_TEAM_ID } from '../../wire/office/snapshot.ts';
import type { Office, Team } from '../state/office.ts';
import { type BudgetStanding, budgetStandingOf, teamsInOrder } from '../state/teams.ts';
import { barOf, gather, sparkline } from '../text/graphs.ts';
import { type Line, type Span, span } from '../text/line.ts';
import { type Column, layOut } from '../text/table.ts';

/** At most `rows` lines, with a heading. The chosen team is always among them. */
export function teamLines(office: Office, chosenId: string | null, width: number, rows: number): readonly Line[] {
  const teams = teamsInOrder(office);
  if (rows < 2 || teams.length === 0) return [];
  const { heading, row } = layOut(columnsFor(office), width - 3);
  const shown = teams.slice(0, rows - 1);
  const chosen = teams.find(({ id }) => id === chosenId);
  if (chosen !== undefined && !shown.includes(chosen)) shown.splice(-1, 1, chosen);
  return [
    { spans: [span('  '), ...heading.spans] },
    ...shown.map((team) => ({ spans: [span(team.id === chosenId ? '❯ ' : '  ', 'accent'), ...row(team)] })),
  ];
}

function columnsFor({ flows, budgets }: Office): readonly Column<Team>[] {
  return [
    {
      title: 'TEAM',
      width: 14,
      most: 22,
      worth: 100,
      cell: ({ id, name }) => span(name, id === UNASSIGNED_TEAM_ID ? 'dim' : 'plain'),
    },
    {
      title: 'TODAY',
      width: 8,
      worth: 90,
      align: 'end',
      cell: ({ today_cost_usd: cost }) => span(money(cost), 'money'),
    },
    {
      title: 'BUDGET',
      width: 20,
      most: 32,
      worth: 80,
      cell: (team, width) => budgetCell(budgetStandingOf(team, budgets.get(team.id)), width),
    },
    {
      title: 'TOKENS',
      width: 6,
      worth: 50,
      align: 'end',
      cell: ({ today_total_tokens: tokens }) => span(compact(tokens), 'dim'),
    },
    {
      title: 'ACTIVE',
      width: 6,
      worth: 40,
      align: 'end',
      cell: ({ today_active: active }) => span(compact(active), 'dim'),
    },
    {
      title: 'LAST HOUR',
      width: 12,
      most: 60,
      worth: 60,
      cell: ({ id }, width) => graph(gather(flows.get(id)?.minutes ?? [], width)),
    },
  ];
}

/** Minutes in which nothing came are faint, so that the others stand out. */
function graph(values: readonly (number | null)[]): readonly Span[] {
  const characters = Array.from(sparkline(values));
  return characters.map((character, at) => span(character, values[at] ? 'accent' : 'faint'));
}

function budgetCell(standing: BudgetStanding | null, width: number): readonly Span[] {
  if (standing === null) return [span('no budget', 'dim')];
  const { share, role } = standing;
  const label = ` ${standing.label}`;
  const [filled, rest] = barOf(share, Math.max(0, width - label.length));
  return [span('━'.repeat(filled), role), span('─'.repeat(rest), 'faint'), span(label, share >= 1 ? 'failed' : 'dim')];
}
