// The teams of the office: in which order, which are found, and how much of its budget each has used.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import type { BudgetWire } from '../../wire/people/budget.ts';
import type { Role } from '../text/line.ts';
import type { Flow } from './flow.ts';
import type { Office, Team } from './office.ts';
import type { TeamPicker } from './screens.ts';

/** Those that spent most today first. */
export function teamsInOrder({ teams }: Pick<Office, 'teams'>): readonly Team[] {
  return [...teams].sort(
    (a, b) =>
      b.today_cost_usd - a.today_cost_usd || b.today_total_tokens - a.today_total_tokens || (a.name < b.name ? -1 : 1),
  );
}

/** Those whose name has what is typed; those that begin with it first. */
export function teamsFound(office: Pick<Office, 'teams'>, { find }: Pick<TeamPicker, 'find'>): readonly Team[] {
  const wanted = find.trim().toLowerCase();
  const found = teamsInOrder(office).filter(({ name }) => name.toLowerCase().includes(wanted));
  const isFirst = ({ name }: Team) => name.toLowerCase().startsWith(wanted);
  return wanted === '' ? found : [...found.filter(isFirst), ...found.filter((team) => !isFirst(team))];
}

/** What there is to choose: all teams, whose id is empty, while nothing is typed, and those that are found. */
export function pickableIds(office: Pick<Office, 'teams'>, picker: TeamPicker): readonly string[] {
  const found = teamsFound(office, picker).map(({ id }) => id);
  return picker.find.trim() === '' ? ['', ...found] : found;
}

/** What all teams used in the last hour, by minutes. */
export function flowOfAll(flows: Iterable<Pick<Flow, 'minutes'>>): readonly (number | null)[] {
  const sums: (number | null)[] = [];
  for (const { minutes } of flows)
    minutes.forEach((value, at) => {
      sums[at] = value === null ? (sums[at] ?? null) : (sums[at] ?? 0) + value;
    });
  return sums;
}

const NEARLY = 0.8;

/** How much of a budget is used, from 0, and what it is. */
export interface BudgetStanding {
  readonly share: number;
  readonly label: string;
  readonly role: Role;
}

/** Null without a budget. Without the budgets themselves, the team's own amount is compared with its cost of today. */
export function budgetStandingOf(
  { budget_amount_usd: amount, today_cost_usd: cost }: Team,
  budget?: BudgetWire,
): BudgetStanding | null {
  if (budget === undefined) return amount === null ? null : standing(cost, amount, money(amount));
  const { unit, limit, spent, period } = budget;
  const most = unit === 'usd' ? money(limit) : `${compact(limit)} tokens`;
  return standing(spent, limit, `${most}${period === 'day' ? '' : PERIODS[period]}`);
}

const PERIODS = { month: '/month', all: ' in all' };

/** A budget of 0 is used up. */
function standing(spent: number, limit: number, label: string): BudgetStanding {
  const share = limit === 0 ? 1 : spent / limit;
  return { share, label, role: share >= 1 ? 'failed' : share >= NEARLY ? 'waiting' : 'running' };
}
