// What a user has: counted, and listed to be settled.
import { HOLDING_KINDS, type Holding, MOST_HELD, type SettledKind } from '../../domain/people/holding.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';

/** A thing of a user. `id` is what its own verbs take; `seq` is the row's integer. */
export interface HeldThing {
  readonly seq: number;
  readonly id: string;
  readonly name: string;
}

/** What is there of each kind, in its order. Each has an index that begins with the user. */
const THINGS: Readonly<
  Record<SettledKind, { readonly columns: string; readonly from: string; readonly order: string }>
> = {
  key: {
    columns: 'seq, id, name',
    from: 'api_keys WHERE user_seq = ? AND revoked_at IS NULL',
    order: 'seq',
  },
  connection: {
    columns: 'seq, id, name',
    from: "connections WHERE user_seq = ? AND state <> 'revoked'",
    order: 'seq',
  },
  webhook: {
    columns: "id AS seq, '' AS id, name",
    from: 'webhooks WHERE user_seq = ? AND deleted_at IS NULL',
    order: 'id',
  },
  scheduled_task: {
    columns: 'seq, id, name',
    from: 'scheduled_tasks WHERE user_seq = ? AND deleted_at IS NULL',
    order: 'seq',
  },
  page: {
    columns: 'id AS seq, key AS id, name',
    from: 'publish_pages WHERE user_seq = ? AND deleted_at IS NULL',
    order: 'id',
  },
  session: {
    columns: "seq, id, '' AS name",
    from: 'sessions WHERE user_seq = ? AND deleted_at IS NULL',
    order: 'seq',
  },
};

/** How many of each kind are named. */
const NAMED = 10;
const UNFINISHED = 'SELECT count(*) AS count FROM runs WHERE finished_at IS NULL AND user_seq = ?';

/** The verbs. */
export function makeHoldings({ read }: Database) {
  return {
    /** All kinds in their order. */
    count: read(function* (tx: Reader, userSeq: number): Step<Holding[]> {
      const holdings: Holding[] = [];
      for (const kind of HOLDING_KINDS) holdings.push(yield* countIn(tx, kind, userSeq));
      return holdings;
    }),

    /** Some of a kind, the oldest first. */
    list: read(
      (tx: Reader, kind: SettledKind, userSeq: number, limit: number): Step<HeldThing[]> =>
        listIn(tx, kind, userSeq, limit),
    ),
  };
}

function* countIn(tx: Reader, kind: Holding['kind'], userSeq: number): Step<Holding> {
  if (kind === 'unfinished_run') {
    const { count } = (yield* tx.get<{ count: number }>(UNFINISHED, userSeq))!;
    return { kind, count, names: [] };
  }
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM ${THINGS[kind].from} LIMIT ?)`;
  const { count } = (yield* tx.get<{ count: number }>(sql, userSeq, MOST_HELD))!;
  const names = (yield* listIn(tx, kind, userSeq, NAMED)).map(({ name }) => name).filter((name) => name !== '');
  return { kind, count, names };
}

function listIn(tx: Reader, kind: SettledKind, userSeq: number, limit: number): Step<HeldThing[]> {
  const { columns, from, order } = THINGS[kind];
  return tx.all<HeldThing>(`SELECT ${columns} FROM ${from} ORDER BY ${order} LIMIT ?`, userSeq, limit);
}
