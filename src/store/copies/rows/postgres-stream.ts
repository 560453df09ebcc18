// Whole rows of the bytes that a COPY sends, which arrive in pieces of any length.
import { type Batch, BATCH_BYTES } from './place.ts';
import type { StoredTable } from './tables.ts';
import { endOfTuple, HEAD, isTail, valuesAt } from './tuples.ts';

/** The rows of a table; no more is held of them than a batch, or one row. Throws when the bytes end within a row. */
export async function* batchesIn(pieces: AsyncIterable<Buffer>, table: StoredTable): AsyncIterable<Batch> {
  let held: Buffer[] = [];
  let length = 0;
  let needed = BATCH_BYTES;
  let isFirst = true;
  const join = () => {
    const bytes = held.length === 1 ? held[0]! : Buffer.concat(held);
    const start = isFirst ? HEAD.length : 0;
    isFirst = false;
    return bytes.subarray(start);
  };
  for await (const piece of pieces) {
    held.push(piece);
    length += piece.length;
    if (length < needed) continue;
    const { batch, rest, missing } = cut(join(), table);
    if (batch !== undefined) yield batch;
    held = [rest];
    length = rest.length;
    needed = Math.max(missing, BATCH_BYTES);
  }
  const { batch, rest } = cut(join(), table);
  if (batch !== undefined) yield batch;
  if (!isTail(rest, 0)) throw new Error(`The rows of ${table.name} ended too early.`);
}

interface Cut {
  readonly batch: Batch | undefined;
  readonly rest: Buffer;
  /** How many bytes the rest must have, for its first row to be whole. */
  readonly missing: number;
}

function cut(bytes: Buffer, table: StoredTable): Cut {
  let [at, last, rows, missing] = [0, 0, 0, 0];
  while (at < bytes.length && !isTail(bytes, at)) {
    const end = endOfTuple(bytes, at);
    if (end < 0) {
      missing = -end - at;
      break;
    }
    rows += 1;
    last = at;
    at = end;
  }
  const rest = bytes.subarray(at);
  if (rows === 0) return { batch: undefined, rest, missing };
  const values = valuesAt(bytes, last, table.columns);
  const key = table.key.map((place) => values[place]!);
  return { batch: { bytes: bytes.subarray(0, at), rows, last: key }, rest, missing };
}
