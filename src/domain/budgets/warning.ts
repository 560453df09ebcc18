// The words that warn administrators of a budget of which most is used.
import { isoTime } from '../clock.ts';
import type { Budget } from './budget.ts';
import { WHICH } from './decide.ts';

/** A budget of which most is used, for the first time in its period. */
export type NearlyUsedUp = Pick<Budget, 'id' | 'subject' | 'unit' | 'period' | 'limit' | 'renewsAt'> & {
  readonly name: string;
  readonly spent: number;
};

/** Percent of a budget that are used, rounded down; a budget of 0 is used up. */
export function percentUsed({ spent, limit }: { readonly spent: number; readonly limit: number }): number {
  return limit === 0 ? 100 : Math.floor((spent / limit) * 100);
}

const WHOSE: Readonly<Record<Budget['subject'], string>> = { key: 'API key', user: 'user', team: 'team', run: 'runs' };

/** Title and summary of an insight. Its reader may be a member of the team, so there is no amount in it. */
export function nearlyWordsOf(budget: NearlyUsedUp): { readonly title: string; readonly summary: string } {
  const { subject, name, period, renewsAt, id } = budget;
  const title = `${percentUsed(budget)} % of a budget is used: ${WHOSE[subject]} ${name}`;
  const renewal = renewsAt === null ? 'It does not renew.' : `It renews at ${isoTime(renewsAt)}.`;
  const summary = `The budget of ${WHOSE[subject]} ${name}${WHICH[period]} is nearly used up. ${renewal} Once it is, turns are refused and runs fail. Budget ${id}.`;
  return { title, summary };
}
