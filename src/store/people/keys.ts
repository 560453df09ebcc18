// Rows of API keys. The secret itself is never stored, only its SHA-256 (B2).
import { notFound } from '../../domain/errors.ts';
import type { ApiKey, User } from '../../domain/people/user.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { plain, rowKind } from '../engine/row.ts';
import { API_KEY, USER } from '../rows.ts';

export type NewApiKey = Pick<
  ApiKey,
  'id' | 'userSeq' | 'name' | 'scope' | 'lastFour' | 'model' | 'target' | 'projectId' | 'expiresAt'
> &
  Partial<Pick<ApiKey, 'capabilityConfig' | 'continueBy'>> & { readonly secretSha256: Buffer };

/** What may change of a key; absent fields stay unchanged. */
export type KeyChange = Partial<Pick<ApiKey, 'name' | 'model' | 'target' | 'continueBy' | 'capabilityConfig'>>;

/** A key with the names of its owner. */
export interface OwnedKey extends ApiKey {
  readonly userId: string;
  readonly username: string;
}

const OWNED_KEY = rowKind<OwnedKey>({ ...API_KEY.fields, userId: plain, username: plain });
const OWNED = 'SELECT k.*, u.id AS user_id, u.username FROM api_keys k JOIN users u ON u.seq = k.user_seq';

/** A key with its owner, as they are now. */
export interface HeldKey {
  readonly key: ApiKey;
  readonly user: User;
}

/** And the hash of its secret in hexadecimal. */
export interface KeyCredential extends HeldKey {
  readonly secretSha256: string;
}

/** The owner's columns have a prefix. */
const OWNER = rowKind<User>(USER.fields, 'owner_');

const HELD_KEY = rowKind<HeldKey>({ key: API_KEY, user: OWNER });
const CREDENTIAL = rowKind<KeyCredential>({ key: API_KEY, user: OWNER, secretSha256: plain });

/** Every request reads one. */
const BY_ID = `SELECT ${API_KEY.of('k')}, hex(k.secret_sha256) AS secret_sha256, ${OWNER.of('u')}
  FROM api_keys k JOIN users u ON u.seq = k.user_seq WHERE k.id = ?`;

const NEWEST_USABLE = `SELECT ${API_KEY.of('k')}, ${OWNER.of('u')} FROM api_keys k JOIN users u ON u.seq = k.user_seq
  WHERE k.user_seq = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?) ORDER BY k.seq DESC LIMIT 1`;

/** The verbs on API keys. Ids are the public ids. */
export function makeApiKeys(database: Database) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    create: (key: NewApiKey, note?: Note<OwnedKey>): Promise<OwnedKey> =>
      auditedWrite(note, (tx) => createKeyIn(tx, key)),

    /** Throws `not_found`. */
    get: read(getIn),

    /** The credential of a public id with its owner as they are now, or undefined. */
    findCredential: read(function* (tx: Reader, id: string): Step<KeyCredential | undefined> {
      return yield* tx.rows(CREDENTIAL).get(BY_ID, id);
    }),

    /** Up to `limit` keys, or those of one user, that were made after one, in order of creation. */
    list: read(function* (tx: Reader, userSeq: number | null, afterSeq: number, limit: number): Step<OwnedKey[]> {
      const sql = `${OWNED} WHERE k.user_seq = coalesce(?, k.user_seq) AND k.seq > ? ORDER BY k.seq LIMIT ?`;
      return yield* tx.rows(OWNED_KEY).all(sql, userSeq, afterSeq, limit);
    }),

    /** How many these are. */
    count: read(function* (tx: Reader, userSeq: number | null): Step<number> {
      const sql = 'SELECT count(*) AS count FROM api_keys WHERE user_seq = coalesce(?, user_seq)';
      return (yield* tx.get<{ count: number }>(sql, userSeq))!.count;
    }),

    /** Whether a user has a key of this name that is neither revoked nor expired. */
    hasUsable: read(function* (tx: Reader, userSeq: number, name: string, at: number): Step<boolean> {
      const sql = `SELECT 1 FROM api_keys WHERE user_seq = ? AND name = ? AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > ?) LIMIT 1`;
      return (yield* tx.get(sql, userSeq, name, at)) !== undefined;
    }),

    /** The newest key of a user that is neither revoked nor expired, or undefined. */
    findNewestUsable: read(function* (tx: Reader, userSeq: number, at: number): Step<HeldKey | undefined> {
      return yield* tx.rows(HELD_KEY).get(NEWEST_USABLE, userSeq, at);
    }),

    /** Changes a key for the sessions that it opens from now on. Throws `not_found`. */
    change: (id: string, change: KeyChange, note?: Note<OwnedKey>): Promise<OwnedKey> =>
      auditedWrite(note, function* (tx) {
        const key = { ...(yield* getIn(tx, id)), ...change };
        yield* tx.run(
          'UPDATE api_keys SET name = ?, model = ?, target = ?, continue_by = ?, capability_config = ? WHERE id = ?',
          key.name,
          key.model,
          key.target,
          key.continueBy,
          JSON.stringify(key.capabilityConfig),
          id,
        );
        return key;
      }),

    /** Revokes a key; a second call changes nothing. Throws `not_found`. */
    revoke: (id: string, note?: Note<OwnedKey>): Promise<OwnedKey> =>
      auditedWrite(note, function* (tx) {
        yield* tx.run('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', tx.now, id);
        return yield* getIn(tx, id);
      }),

    /** Records that a key was used. */
    touch: write(function* (tx: Transaction, seq: number, at: number): Step<void> {
      yield* tx.run('UPDATE api_keys SET last_used_at = ? WHERE seq = ?', at, seq);
    }),
  };
}

function* getIn(tx: Reader, id: string): Step<OwnedKey> {
  const key = yield* tx.rows(OWNED_KEY).get(`${OWNED} WHERE k.id = ?`, id);
  if (key === undefined) throw notFound('API key');
  return key;
}

/** Inserts a key. */
export function* createKeyIn(tx: Transaction, key: NewApiKey): Step<OwnedKey> {
  yield* tx.insert(
    `INSERT INTO api_keys (id, user_seq, name, scope, secret_sha256, last_four, model, target, project_id,
       continue_by, expires_at, capability_config, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    key.id,
    key.userSeq,
    key.name,
    key.scope,
    key.secretSha256,
    key.lastFour,
    key.model,
    key.target,
    key.projectId,
    key.continueBy ?? null,
    key.expiresAt,
    JSON.stringify(key.capabilityConfig ?? {}),
    tx.now,
  );
  return yield* getIn(tx, key.id);
}
