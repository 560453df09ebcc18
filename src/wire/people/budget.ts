// Budgets of keys, users, teams and runs.
import {
  type Budget,
  BUDGET_PERIODS,
  BUDGET_SUBJECTS,
  BUDGET_UNITS,
  HIGHEST_LIMIT,
} from '../../domain/budgets/budget.ts';
import { percentUsed } from '../../domain/budgets/warning.ts';
import { unprocessable } from '../../domain/errors.ts';
import { isTimeZone } from '../../domain/time-zone.ts';
import { endpoints, idOf } from '../endpoint.ts';
import { listOf, pageFields } from '../listing.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { integer, line, number, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse, refined } from '../shapes/shape.ts';

const reference = line({ max: 200 });
const timezone = refined(line({ max: 100 }), (zone, path) => {
  if (isTimeZone(zone)) return zone;
  throw unprocessable(path, 'must be an IANA time zone such as Europe/Zurich');
});

/**
 * A budget, with what its current period has used. `limit`, `spent` and `reserved` are in its unit; `reserved` is held back for
 * model calls in progress. That of runs limits each run for itself: it has no subject, and nothing is spent of it.
 */
const budget = named(
  'Budget',
  record({
    id: uuid,
    subject: oneOf(BUDGET_SUBJECTS),
    subjectId: nullable(string),
    subjectName: nullable(string),
    unit: oneOf(BUDGET_UNITS),
    period: oneOf(BUDGET_PERIODS),
    timeZone: called('timezone', string),
    limit: number({ from: 0 }),
    spent: number({ from: 0 }),
    reserved: number({ from: 0 }),
    usedPercent: made(integer({ from: 0 }), (budget: Budget) => (budget.subject === 'run' ? 0 : percentUsed(budget))),
    startsAt: called('period_started_at', nullable(time)),
    renewsAt: nullable(time),
    createdAt: time,
    updatedAt: time,
  }),
);
export type BudgetWire = JsonOf<typeof budget>;

/**
 * A budget to set, in place of the one that its subject has for the unit and the period. `ref` names the key by its id, the user
 * and the team by name or id, and is left out for runs, whose period is `all`. Days and months are of UTC unless the time zone
 * is given.
 */
const wantedBudget = named(
  'WantedBudget',
  request({
    subject: oneOf(BUDGET_SUBJECTS),
    reference: called('ref', orElse(nullable(reference), null)),
    unit: oneOf(BUDGET_UNITS),
    limit: number({ from: 0, to: HIGHEST_LIMIT }),
    period: oneOf(BUDGET_PERIODS),
    timeZone: called('timezone', orElse(timezone, null)),
  }),
);
export type WantedBudgetWire = JsonOf<typeof wantedBudget>;

/** Which budgets to list: of all subjects, of one kind, or of the key, user or team that `ref` names. */
const budgetQuery = request({
  subject: orElse(oneOf(BUDGET_SUBJECTS), null),
  reference: called('ref', orElse(string, null)),
  ...pageFields,
});

const one = { params: { id: idOf('Budget', 'budgets') }, reply: budget };

/** Budgets, for administrators. What is used may have to be counted in a long ledger. */
// biome-ignore format: a table reads best with one endpoint a line
export const budgets = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/budgets', summary: 'List budgets', operation: 'listBudgets', query: budgetQuery, reply: listOf(budget) },
  set: { route: 'PUT /api/v1/budgets', summary: 'Set a budget, in place of the one for the same subject, unit and period', operation: 'setBudget', body: wantedBudget, reply: budget, patienceMs: 300_000 },
  get: { route: 'GET /api/v1/budgets/:id', summary: 'Read a budget', operation: 'getBudget', ...one },
  remove: { route: 'DELETE /api/v1/budgets/:id', summary: 'Remove a budget', operation: 'removeBudget', ...one },
});
