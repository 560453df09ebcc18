// The orders of the floor's rows: each is that of a column.
import { isLive, type Row } from './office.ts';

type Compare = (a: Row, b: Row) => number;

/** `column` is the heading that it belongs to; `falls`: what is most comes first there. */
interface OrderFacts {
  readonly falls: boolean;
  readonly words: string;
  readonly column: string;
  readonly compare: Compare;
}

const begun = ({ startedAt, updatedAt, finishedAt }: Row) => startedAt ?? finishedAt ?? updatedAt;
/** Live runs first, those that run before those that wait for their turn. Rows keep their places as long as they can. */
const rank = (row: Row) => (row.status === 'running' ? 0 : row.status === 'pending' ? 1 : 2);
const byRank: Compare = (a, b) => rank(a) - rank(b);
const newest: Compare = (a, b) =>
  byRank(a, b) || (isLive(a) ? begun(b) - begun(a) : (b.finishedAt ?? 0) - (a.finishedAt ?? 0));
const byText =
  (textOf: (row: Row) => string): Compare =>
  (a, b) => {
    const [one, other] = [textOf(a).toLowerCase(), textOf(b).toLowerCase()];
    return one < other ? -1 : one > other ? 1 : newest(a, b);
  };

/** What is left after these two are equal. */
const STATUSES = ['failed', 'running', 'pending', 'completed', 'idle'];
const urgency = (row: Row) => (row.isWaiting || row.modelWait !== null ? -1 : STATUSES.indexOf(row.status));

// biome-ignore format: a table reads best with one order a line
export const ORDER_FACTS = {
  newest: { falls: false, words: 'newest first', column: 'TIME', compare: newest },
  longest: { falls: true, words: 'longest first', column: 'TIME', compare: (a, b) => byRank(a, b) || begun(a) - begun(b) },
  status: { falls: false, words: 'by status', column: 'STATUS', compare: (a, b) => urgency(a) - urgency(b) || newest(a, b) },
  progress: { falls: true, words: 'by progress', column: 'PROGRESS', compare: (a, b) => byRank(a, b) || b.progress - a.progress },
  title: { falls: false, words: 'by title', column: 'TITLE', compare: byText(({ title }) => title) },
  who: { falls: false, words: 'by person', column: 'WHO', compare: byText(({ fullName, username }) => fullName || username) },
  team: { falls: false, words: 'by team', column: 'TEAM', compare: byText(({ teamName }) => teamName ?? '') },
  tokens: { falls: true, words: 'by tokens', column: 'TOKENS', compare: (a, b) => b.tokens - a.tokens },
  cost: { falls: true, words: 'by cost', column: 'COST', compare: (a, b) => b.cost - a.cost },
} as const satisfies Readonly<Record<string, OrderFacts>>;

export type Order = keyof typeof ORDER_FACTS;
export const ORDERS = Object.keys(ORDER_FACTS) as readonly Order[];

/** Rows in an order; of equals, the newest id first. */
export function inOrder(rows: readonly Row[], order: Order, isReversed: boolean): Row[] {
  const { compare } = ORDER_FACTS[order];
  const sign = isReversed ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(a, b) || (a.runId < b.runId ? 1 : -1));
}
