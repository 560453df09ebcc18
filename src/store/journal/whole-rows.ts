// The contents of a page of the journal. Some events have megabytes, such as the arguments of a call that writes a file.
import { LONG_TEXT, ownTurn, takeTurn } from '../../domain/loop/own-turn.ts';
import { PORTION_BYTES } from '../../domain/portions.ts';
import { listed, MOST_LISTED } from '../engine/listed.ts';
import type { Reader, Step } from '../engine/statement.ts';
import type { EventHead, EventRow, RowOfSession } from '../engine/journal/rows.ts';
import type { JournalPage } from './pages.ts';

type Content = Pick<EventRow, 'id' | 'payload' | 'createdAt'>;

/** A page of rows whose payloads are still text. */
export type PageOfRows = JournalPage<RowOfSession>;

/** The rows of the first of these events: as many as have `PORTION_BYTES` together, and one in any case. */
export function* wholeRows(tx: Reader, heads: readonly EventHead[]): Step<PageOfRows> {
  const first = firstOf(heads);
  const contents = new Map<number, Content>();
  for (let at = 0; at < first.length; at += MOST_LISTED) {
    const { marks, values } = listed(first.slice(at, at + MOST_LISTED).map(({ id }) => id));
    const sql = `SELECT id, payload, created_at FROM events WHERE id IN (${marks})`;
    for (const content of yield* tx.all<Content>(sql, ...values)) contents.set(content.id, content);
  }
  const events = first.map((head) => ({ ...head, ...contents.get(head.id)! }));
  return { events, isCut: events.length < heads.length };
}

/** Parses a page. An event of megabytes takes as long to parse as to read, so each of the two has a turn of the loop. */
export async function parsed<Event>(
  page: PageOfRows,
  parse: (row: RowOfSession) => Event,
): Promise<JournalPage<Event>> {
  if (page.events.some(({ payload }) => payload.length > LONG_TEXT)) {
    // This one was needed to read it.
    takeTurn();
    await ownTurn();
  }
  return { ...page, events: page.events.map(parse) };
}

function firstOf(heads: readonly EventHead[]): readonly Omit<EventHead, 'bytes'>[] {
  const first: Omit<EventHead, 'bytes'>[] = [];
  let bytes = 0;
  for (const { bytes: own, ...head } of heads) {
    bytes += own;
    if (bytes > PORTION_BYTES && first.length > 0) break;
    first.push(head);
  }
  return first;
}
