// What became of a transaction whose connection was lost after its commit was sent: the server knows, by its number.
import { type Clock, pauseAlive } from '../../../../domain/clock.ts';
import type { JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import { type EventRow, eventOf } from '../../journal/rows.ts';
import { makeRowMapper } from '../../row.ts';
import type { Connection } from '../connections/connection.ts';
import type { Writer } from './writer.ts';

/** How long a server may take to say it: its process may still work on it. */
const FATE_MS = 60_000;
const RETRY_MS = 100;

const FATE = { name: 'fate', text: 'SELECT pg_xact_status($1::xid8)' };
const IS_LAST = {
  name: 'is_last',
  text: 'SELECT 1 FROM last_transactions WHERE writer = $1 AND number = $2::xid8',
};
const EVENTS_OF = {
  name: 'events_of',
  text: `SELECT id, session_seq, run_seq, stream_seq, type, payload, created_at FROM events
    WHERE id > $1 AND xmin = $2::xid8::xid ORDER BY id`,
};

/** A transaction: its number, and whether it has added events. */
interface Lost {
  readonly id: string;
  readonly writer: string;
  readonly emits: boolean;
}

/** The events of the last transaction; null when it wasn't kept. Rejects when that can't be found out. */
export async function eventsOf(
  { id, writer: name, emits }: Lost,
  writer: Writer,
  clock: Clock,
): Promise<readonly JournalEvent[] | null> {
  const reached = await whenKept(id, writer, clock);
  if (reached === null) return null;
  // A server that has crashed may give the number of a transaction that left nothing on its disk to another one, of anybody: it is kept when
  // what it wrote is there.
  if (!emits) return (await reached.ask(IS_LAST, [name, id])).rows.length === 0 ? null : [];
  const { columns, rows } = await reached.ask(EVENTS_OF, [writer.lastId(), id]);
  if (rows.length === 0) return null;
  const toRow = makeRowMapper(
    columns.map(({ name }) => name),
    undefined,
  );
  return rows.map((values) => eventOf(toRow(values) as EventRow));
}

/** A connection, once the transaction is known to be kept; null when it isn't. */
async function whenKept(transaction: string, writer: Writer, clock: Clock): Promise<Connection | null> {
  const until = clock.monotonic() + FATE_MS;
  for (;;) {
    const isLate = clock.monotonic() >= until;
    const reached = await writer.connection().catch((error: unknown) => {
      if (isLate) throw error;
      return null;
    });
    const status = await reached?.ask(FATE, [transaction]).then(
      ({ rows }) => rows[0]![0],
      (error: unknown) => (isUnknown(error) ? 'aborted' : undefined),
    );
    if (status === 'committed') return reached;
    if (status === 'aborted' || status === null) return null;
    if (isLate) throw new Error('Connection terminated: the server does not say whether its last transaction was kept');
    await pauseAlive(clock, RETRY_MS);
  }
}

/** "Transaction ID … is in the future": the server crashed before anything of it was on its disk. */
const isUnknown = (error: unknown) => error instanceof Error && 'code' in error && error.code === '22023';
