// Rows as bytes: those of PostgreSQL's COPY in its binary format, in which rows of both engines are moved, compared and read.
// https://www.postgresql.org/docs/15/sql-copy.html (Binary Format)
import { fromPostgres, toPostgres } from '../../engine/postgres/sql/text.ts';
import type { Value } from '../../engine/statement.ts';
import type { StoredColumn } from './tables.ts';

/** What a copy begins and ends with: a signature, flags and no extension; a row of -1 fields. */
export const HEAD = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
export const TAIL = Buffer.from([0xff, 0xff]);

const NULL = -1;
const NUMBER_BYTES = 8;
const FIRST_BYTES = 65_536;

export interface TupleWriter {
  /** Integers are bigints, so that every one is exact. */
  add(values: readonly Value[]): void;
  /** The bytes of what was added. */
  bytes(): number;
  /** What was added; it begins anew. */
  take(): Buffer;
}

export function makeTupleWriter(): TupleWriter {
  let buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  // Quicker for numbers, of which rows mostly consist.
  let view = new DataView(buffer.buffer);
  let at = 0;
  const reserve = (length: number) => {
    if (at + length <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at + length));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
    view = new DataView(larger.buffer);
  };
  const addBytes = (length: number, write: () => void) => {
    reserve(length + 4);
    view.setInt32(at, length);
    at += 4;
    write();
    at += length;
  };
  const addText = (text: string) => {
    const length = Buffer.byteLength(text);
    addBytes(length, () => buffer.write(text, at));
  };
  return {
    add: (values) => {
      reserve(2);
      view.setInt16(at, values.length);
      at += 2;
      for (const value of values) {
        if (value === null) {
          reserve(4);
          view.setInt32(at, NULL);
          at += 4;
        } else if (typeof value === 'bigint') addBytes(NUMBER_BYTES, () => view.setBigInt64(at, value));
        else if (typeof value === 'number') addBytes(NUMBER_BYTES, () => view.setFloat64(at, value));
        else if (typeof value === 'string') addText(toPostgres(value));
        else addBytes(value.length, () => value.copy(buffer, at));
      }
    },
    bytes: () => at,
    take: () => {
      const taken = Buffer.from(buffer.subarray(0, at));
      at = 0;
      return taken;
    },
  };
}

/** Where the row ends that begins at a place; when its bytes aren't all there, how many have to be, as a negative number. */
export function endOfTuple(bytes: Buffer, start: number): number {
  if (bytes.length < start + 2) return -(start + 2);
  let at = start + 2;
  for (let fields = bytes.readInt16BE(start); fields > 0; fields -= 1) {
    if (bytes.length < at + 4) return -(at + 4);
    at += 4 + Math.max(bytes.readInt32BE(at), 0);
  }
  return bytes.length < at ? -at : at;
}

/** Whether the bytes have no more rows from a place on. */
export const isTail = (bytes: Buffer, at: number): boolean =>
  bytes.length === at + TAIL.length && bytes.readInt16BE(at) === NULL;

/** The values of the row that begins at a place; integers are bigints. */
export function valuesAt(bytes: Buffer, start: number, columns: readonly StoredColumn[]): Value[] {
  let at = start + 2;
  return columns.map(({ type }) => {
    const length = bytes.readInt32BE(at);
    const from = at + 4;
    at = from + Math.max(length, 0);
    if (length === NULL) return null;
    if (type === 'INTEGER') return bytes.readBigInt64BE(from);
    if (type === 'REAL') return bytes.readDoubleBE(from);
    return type === 'TEXT' ? fromPostgres(bytes.toString('utf8', from, at)) : bytes.subarray(from, at);
  });
}

/** Where each row begins, in bytes that hold whole rows and nothing else. */
export function* startsOf(bytes: Buffer): Iterable<number> {
  for (let at = 0; at < bytes.length; at = endOfTuple(bytes, at)) yield at;
}
