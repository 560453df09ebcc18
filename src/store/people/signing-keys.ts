// Rows of the keys that sign login tokens: one signs, and the earlier ones only verify until they are removed.
import { newId } from '../../domain/ids.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A key without its secret, which is derived from the salt and the master key. Moments are epoch ms. */
export interface SigningKey {
  readonly id: string;
  readonly salt: Buffer;
  readonly createdAt: number;
  /** When another key replaced it; null for the one that signs. */
  readonly retiredAt: number | null;
  /** When all its tokens were revoked. */
  readonly revokedAt: number | null;
}

const SELECT = 'SELECT id, salt, created_at, retired_at, revoked_at FROM signing_keys';
const CURRENT = `${SELECT} WHERE retired_at IS NULL`;

function* add(tx: Transaction, salt: Buffer): Step<SigningKey> {
  const id = newId(tx.now);
  yield* tx.run('INSERT INTO signing_keys (id, salt, created_at) VALUES (?, ?, ?)', id, salt, tx.now);
  return { id, salt, createdAt: tx.now, retiredAt: null, revokedAt: null };
}

/** The verbs on signing keys. A `salt` is used only where a key is made. */
export function makeSigningKeys(database: Database) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    find: read(function* (tx: Reader, id: string): Step<SigningKey | undefined> {
      return yield* tx.get<SigningKey>(`${SELECT} WHERE id = ?`, id);
    }),

    /** The key that signs; undefined before the first token. */
    findCurrent: read(function* (tx: Reader): Step<SigningKey | undefined> {
      return yield* tx.get<SigningKey>(CURRENT);
    }),

    /** The key that signs, created if there is none. */
    ensureCurrent: write(function* (tx: Transaction, salt: Buffer): Step<SigningKey> {
      return (yield* tx.get<SigningKey>(CURRENT)) ?? (yield* add(tx, salt));
    }),

    /** Newest first. */
    list: read(function* (tx: Reader): Step<{ items: SigningKey[]; total: number }> {
      const items = yield* tx.all<SigningKey>(`${SELECT} ORDER BY seq DESC`);
      return { items, total: items.length };
    }),

    /** Replaces the key that signs, and removes keys that were retired before `forgetBefore`. */
    rotate: (salt: Buffer, forgetBefore: number, note?: Note<SigningKey>): Promise<SigningKey> =>
      auditedWrite(note, function* (tx) {
        yield* tx.run('DELETE FROM signing_keys WHERE retired_at < ?', forgetBefore);
        yield* tx.run('UPDATE signing_keys SET retired_at = ? WHERE retired_at IS NULL', tx.now);
        return yield* add(tx, salt);
      }),

    /** Revokes every key and creates a new one, so that no token issued before is valid. */
    revokeAll: (salt: Buffer, note?: Note<SigningKey>): Promise<SigningKey> =>
      auditedWrite(note, function* (tx) {
        const sql =
          'UPDATE signing_keys SET retired_at = coalesce(retired_at, ?), revoked_at = ? WHERE revoked_at IS NULL';
        yield* tx.run(sql, tx.now, tx.now);
        return yield* add(tx, salt);
      }),
  };
}
