// The contents of a page of the journal. Some events have megabytes, such as the arguments of a call that writes a file.
import { PORTION_BYTES } from '../../domain/portions.ts';
import type { Reader, Step } from '../engine/statement.ts';
import type { EventHead, EventRow, RowOfSession } from '../engine/journal/rows.ts';

const CONTENT = 'SELECT payload, created_at FROM events WHERE id = ?';

/** The rows of the first of these events: as many as have `PORTION_BYTES` together, and one in any case. */
export function* wholeRows(tx: Reader, heads: readonly EventHead[]): Step<RowOfSession[]> {
  const rows: RowOfSession[] = [];
  let bytes = 0;
  for (const { bytes: own, ...head } of heads) {
    bytes += own;
    if (bytes > PORTION_BYTES && rows.length > 0) break;
    rows.push({ ...head, ...(yield* tx.get<Pick<EventRow, 'payload' | 'createdAt'>>(CONTENT, head.id))! });
  }
  return rows;
}
