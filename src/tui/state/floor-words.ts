// The words of the floor that every view has.
import { type Order, ORDER_FACTS } from './order.ts';
import type { FloorState } from './screens.ts';
import type { AppState } from './state.ts';

export const ORDER_WORDS = Object.fromEntries(
  Object.entries(ORDER_FACTS).map(([order, { words }]) => [order, words]),
) as Readonly<Record<Order, string>>;

/** Why there are no runs to show. */
export function emptyText({ office, connection }: AppState, { find, status, teamId }: FloorState): string {
  if (office.loadedAt === null) return connection.readFailure?.message ?? 'Reading the office…';
  if (find !== '' || status !== 'all' || teamId !== null) return 'Nothing matches. Esc shows everything.';
  return 'No runs today. They show here as soon as somebody asks for something.';
}
