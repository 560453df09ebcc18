// The words of the floor that every view has.
import type { FloorState, Order } from './screens.ts';
import type { AppState } from './state.ts';

export const ORDER_WORDS: Readonly<Record<Order, string>> = {
  newest: 'newest first',
  longest: 'longest first',
  cost: 'by cost',
  tokens: 'by tokens',
};

/** Why there are no runs to show. */
export function emptyText({ office, connection }: AppState, { find, status, teamId }: FloorState): string {
  if (office.loadedAt === null) return connection.readFailure?.message ?? 'Reading the office…';
  if (find !== '' || status !== 'all' || teamId !== null) return 'Nothing matches. Esc shows everything.';
  return 'No runs today. They show here as soon as somebody asks for something.';
}
