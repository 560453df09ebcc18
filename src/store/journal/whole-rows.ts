// The contents of a page of the journal. Some events have megabytes, such as the arguments of a call that writes a file.
import { PORTION_BYTES } from '../../domain/portions.ts';
import { listed, MOST_LISTED } from '../engine/listed.ts';
import type { Reader, Step } from '../engine/statement.ts';
import type { EventHead, EventRow, RowOfSession } from '../engine/journal/rows.ts';

type Content = Pick<EventRow, 'id' | 'payload' | 'createdAt'>;

/** The rows of the first of these events: as many as have `PORTION_BYTES` together, and one in any case. */
export function* wholeRows(tx: Reader, heads: readonly EventHead[]): Step<RowOfSession[]> {
  const first = firstOf(heads);
  const contents = new Map<number, Content>();
  for (let at = 0; at < first.length; at += MOST_LISTED) {
    const { marks, values } = listed(first.slice(at, at + MOST_LISTED).map(({ id }) => id));
    const sql = `SELECT id, payload, created_at FROM events WHERE id IN (${marks})`;
    for (const content of yield* tx.all<Content>(sql, ...values)) contents.set(content.id, content);
  }
  return first.map((head) => ({ ...head, ...contents.get(head.id)! }));
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
