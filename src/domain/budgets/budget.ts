// A budget: the most that a key, a user, a team or a single run may use, in US dollars or tokens, by day, month or in all.

/** What a budget limits. One of `run` limits each run for itself. */
export const BUDGET_SUBJECTS = ['key', 'user', 'team', 'run'] as const;
export type BudgetSubject = (typeof BUDGET_SUBJECTS)[number];

export const BUDGET_UNITS = ['usd', 'tokens'] as const;
export type BudgetUnit = (typeof BUDGET_UNITS)[number];

/** `all`: it never renews. */
export const BUDGET_PERIODS = ['day', 'month', 'all'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Days and months of a budget begin in this zone unless it names another. */
export const DEFAULT_TIME_ZONE = 'UTC';

/** The share of a budget at which administrators are warned. */
export const WARNING_SHARE = 0.8;

/** How much there may be. */
export const MOST_BUDGETS = 10_000;
/** A limit above it is a slip. Up to it, tokens are counted exactly. */
export const HIGHEST_LIMIT = 1_000_000_000_000;

/** The terms of a budget. */
export interface BudgetTerms {
  readonly subject: BudgetSubject;
  readonly unit: BudgetUnit;
  readonly period: BudgetPeriod;
  /** IANA name of the zone of its days and months. */
  readonly timeZone: string;
  readonly limit: number;
}

/** A budget as administrators see it, at one moment. */
export interface Budget extends BudgetTerms {
  readonly seq: number;
  readonly id: string;
  /** The id and the name of its key, user or team; null for that of runs. */
  readonly subjectId: string | null;
  readonly subjectName: string | null;
  /** Used in the current period, and held back for calls in progress; 0 for that of runs. */
  readonly spent: number;
  readonly reserved: number;
  /** Begin and end of the current period; null where it has none. */
  readonly startsAt: number | null;
  readonly renewsAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Tokens and US dollars of a call: used, or at most to be used. */
export interface Amounts {
  readonly tokens: number;
  readonly usd: number;
}

/** A budget of which nothing is left. */
export interface UsedUp extends Pick<BudgetTerms, 'subject' | 'period'> {
  readonly renewsAt: number | null;
}
