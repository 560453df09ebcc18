// Budgets of keys, users, teams and runs.
import { BUDGET_PERIODS, BUDGET_SUBJECTS, BUDGET_UNITS, HIGHEST_LIMIT } from '../../domain/budgets/budget.ts';
import { unprocessable } from '../../domain/errors.ts';
import { isTimeZone } from '../../domain/time-zone.ts';
import { object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { integer, line, number, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, refined, type Static } from '../shape.ts';

const reference = line({ max: 200 });
const timezone = refined(line({ max: 100 }), (zone, path) => {
  if (isTimeZone(zone)) return zone;
  throw unprocessable(path, 'must be an IANA time zone such as Europe/Zurich');
});

/**
 * A budget, with what its current period has used. `limit`, `spent` and `reserved` are in its unit; `reserved` is held back for
 * model calls in progress. That of runs limits each run for itself: it has no subject, and nothing is spent of it.
 */
export const budget = named(
  'Budget',
  object({
    id: uuid,
    subject: oneOf(BUDGET_SUBJECTS),
    subject_id: nullable(string),
    subject_name: nullable(string),
    unit: oneOf(BUDGET_UNITS),
    period: oneOf(BUDGET_PERIODS),
    timezone: string,
    limit: number({ from: 0 }),
    spent: number({ from: 0 }),
    reserved: number({ from: 0 }),
    used_percent: integer({ from: 0 }),
    period_started_at: nullable(time),
    renews_at: nullable(time),
    created_at: time,
    updated_at: time,
  }),
);
export type BudgetWire = Static<typeof budget>;

/**
 * A budget to set, in place of the one that its subject has for the unit and the period. `ref` names the key by its id, the user
 * and the team by name or id, and is left out for runs, whose period is `all`. Days and months are of UTC unless the time zone
 * is given.
 */
export const wantedBudget = named(
  'WantedBudget',
  object({
    subject: oneOf(BUDGET_SUBJECTS),
    ref: nullish(reference),
    unit: oneOf(BUDGET_UNITS),
    limit: number({ from: 0, to: HIGHEST_LIMIT }),
    period: oneOf(BUDGET_PERIODS),
    timezone: optional(timezone),
  }),
);
export type WantedBudgetWire = Static<typeof wantedBudget>;

/** Which budgets to list: of all subjects, of one kind, or of the key, user or team that `ref` names. */
export const budgetQuery = object({
  subject: optional(oneOf(BUDGET_SUBJECTS)),
  ref: optional(string),
  ...pageFields,
});
