// The periods of budgets: days and months of time zones.
import { dayStartQuarter, firstMomentAfter, firstMomentOf, isTimeZone, QUARTER_MS } from '../time-zone.ts';
import { type BudgetPeriod, type BudgetTerms, DEFAULT_TIME_ZONE } from './budget.ts';

/** A period, in epoch ms; `endsAt` null: it never ends. */
export interface Span {
  readonly startsAt: number;
  readonly endsAt: number | null;
}

/** The period of a budget that a moment is in. */
export type PeriodOf = (terms: Pick<BudgetTerms, 'period' | 'timeZone'>, at: number) => Span;

const ALL: Span = { startsAt: 0, endsAt: null };

/** Makes it. The current period of each zone is remembered, since computing one takes a hundred dates. */
export function makePeriodOf(): PeriodOf {
  const current = new Map<string, Span>();
  return ({ period, timeZone }, at) => {
    if (period === 'all') return ALL;
    const name = `${period} ${timeZone}`;
    const known = current.get(name);
    if (known !== undefined && at >= known.startsAt && at < known.endsAt!) return known;
    // A zone that was known when the budget was set may be gone: the rules of budgets must hold all the same.
    const span = SPANS[period](at, isTimeZone(timeZone) ? timeZone : DEFAULT_TIME_ZONE);
    current.set(name, span);
    return span;
  };
}

const SPANS: Readonly<Record<Exclude<BudgetPeriod, 'all'>, (at: number, timeZone: string) => Span>> = {
  day: (at, timeZone) => {
    const startsAt = dayStartQuarter(at, timeZone) * QUARTER_MS;
    return { startsAt, endsAt: Math.max(at + 1, firstMomentAfter(dateOf(at, timeZone), timeZone)) };
  },
  month: (at, timeZone) => {
    const [year, month] = dateOf(at, timeZone).split('-').map(Number) as [number, number];
    const next = month === 12 ? firstOf(year + 1, 1) : firstOf(year, month + 1);
    const startsAt = Math.min(at, firstMomentOf(firstOf(year, month), timeZone));
    return { startsAt, endsAt: Math.max(at + 1, firstMomentOf(next, timeZone)) };
  },
};

const firstOf = (year: number, month: number) =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-01`;

/** The date of a moment in a zone, `YYYY-MM-DD`: the Swedish format is that of ISO 8601. */
function dateOf(at: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return format.format(at);
}
