// Rows of users' connections to services. The secret is opaque here: the caller encrypts it (I4, J6).
import { notFound } from '../../domain/errors.ts';
import type { Connection } from '../../domain/capabilities/connector.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import { plain, rowKind } from '../engine/row.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A connection with the names of its owner. */
export interface ConnectionRecord extends Connection {
  readonly userId: string;
  readonly username: string;
}

const OWNED = `SELECT connections.seq, connections.id, user_seq, connector, name, state, last_error,
    connections.created_at, connections.updated_at, u.id AS user_id, u.username
  FROM connections JOIN users u ON u.seq = connections.user_seq`;

const BY_ID = `${OWNED} WHERE connections.id = ?`;

const CONNECTION = rowKind<ConnectionRecord>({
  seq: plain,
  id: plain,
  userSeq: plain,
  connector: plain,
  name: plain,
  state: plain,
  lastError: plain,
  createdAt: plain,
  updatedAt: plain,
  userId: plain,
  username: plain,
});

export interface NewConnection {
  readonly id: string;
  readonly userSeq: number;
  readonly connector: string;
  readonly name: string;
  /** Null where the connector does not need one from the user. */
  readonly secret: Buffer | null;
}

/** The verbs that read connections. */
function makeReads({ read }: Database) {
  const find = read(function* (tx: Reader, id: string): Step<ConnectionRecord | undefined> {
    return yield* tx.rows(CONNECTION).get(BY_ID, id);
  });
  return {
    find,

    /** Throws `not_found`. */
    get: async (id: string): Promise<ConnectionRecord> => {
      const found = await find(id);
      if (found === undefined) throw notFound('Connection');
      return found;
    },

    /** Up to `limit` connections, or those of one user, that were made after one, in order of creation. */
    list: read(function* (
      tx: Reader,
      userSeq: number | null,
      afterSeq: number,
      limit: number,
    ): Step<ConnectionRecord[]> {
      const sql = `${OWNED} WHERE user_seq = coalesce(?, user_seq) AND connections.seq > ? ORDER BY connections.seq LIMIT ?`;
      return yield* tx.rows(CONNECTION).all(sql, userSeq, afterSeq, limit);
    }),

    /** How many these are. */
    count: read(function* (tx: Reader, userSeq: number | null): Step<number> {
      const sql = 'SELECT count(*) AS count FROM connections WHERE user_seq = coalesce(?, user_seq)';
      return (yield* tx.get<{ count: number }>(sql, userSeq))!.count;
    }),

    /** The connections with these ids that belong to a user and are not revoked, in order of creation. */
    listOf: read(function* (tx: Reader, userSeq: number, ids: readonly string[]): Step<ConnectionRecord[]> {
      const sql = `${OWNED} WHERE user_seq = ? AND state <> 'revoked' ORDER BY connections.seq`;
      return (yield* tx.rows(CONNECTION).all(sql, userSeq)).filter(({ id }) => ids.includes(id));
    }),

    /** The sealed secrets of a user's connections, the newest first. */
    sealedOf: read(
      (tx: Reader, userSeq: number, limit: number): Step<{ id: string; sealed: Buffer }[]> =>
        tx.all<{ id: string; sealed: Buffer }>(
          `SELECT id, secret AS sealed FROM connections WHERE user_seq = ? AND secret IS NOT NULL ORDER BY seq DESC LIMIT ?`,
          userSeq,
          limit,
        ),
    ),

    /** The sealed secrets of everybody's connections after one, in order. */
    listSealed: read(
      (tx: Reader, afterSeq: number, limit: number): Step<{ seq: number; id: string; sealed: Buffer }[]> =>
        tx.all<{ seq: number; id: string; sealed: Buffer }>(
          'SELECT seq, id, secret AS sealed FROM connections WHERE seq > ? AND secret IS NOT NULL ORDER BY seq LIMIT ?',
          afterSeq,
          limit,
        ),
    ),

    /** The sealed secret; null when there is none. */
    secretOf: read(function* (tx: Reader, id: string): Step<Buffer | null> {
      return (
        (yield* tx.get<{ secret: Buffer | null }>('SELECT secret FROM connections WHERE id = ?', id))?.secret ?? null
      );
    }),
  };
}

/** The verbs on connections. */
export function makeConnections(database: Database) {
  const { write } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    ...makeReads(database),

    create: (connection: NewConnection, note?: Note<ConnectionRecord>): Promise<ConnectionRecord> =>
      auditedWrite(note, function* (tx) {
        yield* tx.run(
          `INSERT INTO connections (id, user_seq, connector, name, secret, state, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, 'active', ?, ?)`,
          connection.id,
          connection.userSeq,
          connection.connector,
          connection.name,
          connection.secret,
          tx.now,
          tx.now,
        );
        return (yield* tx.rows(CONNECTION).get(BY_ID, connection.id))!;
      }),

    /** Replaces the secret with the one that a service gave in exchange, unless the connection was revoked meanwhile. */
    replaceSecret: write(function* (tx: Transaction, id: string, secret: Buffer): Step<boolean> {
      const sql = "UPDATE connections SET secret = ?, updated_at = ? WHERE id = ? AND state <> 'revoked'";
      return (yield* tx.count(sql, secret, tx.now, id)) > 0;
    }),

    /**
     * Records whether the service accepted the credential; a revoked connection stays revoked. Returns whether the status
     * changed.
     */
    noteState: write(function* (
      tx: Transaction,
      id: string,
      state: 'active' | 'failed',
      error: string | null,
    ): Step<boolean> {
      return (
        (yield* tx.count(
          `UPDATE connections SET state = ?, last_error = ?, updated_at = ?
             WHERE id = ? AND state <> 'revoked' AND (state <> ? OR last_error IS DISTINCT FROM ?)`,
          state,
          error,
          tx.now,
          id,
          state,
          error,
        )) > 0
      );
    }),

    /** Revokes a connection permanently and erases its secret. Throws `not_found`. */
    revoke: (id: string, note?: Note<ConnectionRecord>): Promise<ConnectionRecord> =>
      auditedWrite(note, function* (tx) {
        yield* tx.run(
          "UPDATE connections SET state = 'revoked', secret = NULL, updated_at = ? WHERE id = ? AND state <> 'revoked'",
          tx.now,
          id,
        );
        const connection = yield* tx.rows(CONNECTION).get(BY_ID, id);
        if (connection === undefined) throw notFound('Connection');
        return connection;
      }),
  };
}
