// Converts budgets to the wire's, and wanted ones to the operations'.
import type { Budget } from '../../domain/budgets/budget.ts';
import { percentUsed } from '../../domain/budgets/warning.ts';
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { WantedBudget } from '../../operations/people/budgets.ts';
import type { BudgetWire, WantedBudgetWire } from '../../wire/people/budget.ts';

export function renderBudget(budget: Budget): BudgetWire {
  return {
    id: budget.id,
    subject: budget.subject,
    subject_id: budget.subjectId,
    subject_name: budget.subjectName,
    unit: budget.unit,
    period: budget.period,
    timezone: budget.timeZone,
    limit: budget.limit,
    spent: budget.spent,
    reserved: budget.reserved,
    used_percent: budget.subject === 'run' ? 0 : percentUsed(budget),
    period_started_at: isoTimeOrNull(budget.startsAt),
    renews_at: isoTimeOrNull(budget.renewsAt),
    created_at: isoTime(budget.createdAt),
    updated_at: isoTime(budget.updatedAt),
  };
}

export function wantedBudgetOf({ ref, timezone, ...rest }: WantedBudgetWire): WantedBudget {
  return { ...rest, reference: ref ?? null, timeZone: timezone ?? null };
}
