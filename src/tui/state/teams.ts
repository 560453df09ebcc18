// The teams of the office: in which order, and how much of its budget each has used.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import type { BudgetWire } from '../../wire/people/budget.ts';
import type { Role } from '../text/line.ts';
import type { Office, Team } from './office.ts';

/** The teams in the order in which `t` goes through them: those that spent most first. */
export function teamsInOrder({ teams }: Pick<Office, 'teams'>): readonly Team[] {
  return [...teams].sort(
    (a, b) =>
      b.today_cost_usd - a.today_cost_usd || b.today_total_tokens - a.today_total_tokens || (a.name < b.name ? -1 : 1),
  );
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
