// Rows of API keys. The secret itself is never stored, only its SHA-256 (B2).
import { type CapabilityConfig, NO_CAPABILITIES } from '../domain/capability-config.ts';
import { notFound } from '../domain/errors.ts';
import type { ApiKey, User } from '../domain/user.ts';
import type { Database, Transaction } from './database.ts';
import { type ApiKeyRow, toApiKey, toUser, type UserRow } from './rows.ts';

export type NewApiKey = Pick<
  ApiKey,
  'id' | 'userSeq' | 'name' | 'scope' | 'lastFour' | 'model' | 'target' | 'projectId' | 'expiresAt'
> & { readonly secretSha256: Buffer };

/** A key, its owner, and what its secret must hash to. */
export interface KeyCredential {
  readonly key: ApiKey;
  readonly user: User;
  readonly secretSha256: Buffer;
}

/** The verbs on API keys. Ids are the public ids. */
export function makeApiKeys({ write, reader }: Database) {
  return {
    create: (key: NewApiKey): Promise<ApiKey> => write((tx) => createKeyIn(tx, key)),

    /** Throws `not_found`. */
    get: async (id: string): Promise<ApiKey> => {
      const row = reader.get<ApiKeyRow>('SELECT * FROM api_keys WHERE id = ?', id);
      if (row === undefined) throw notFound('API key');
      return toApiKey(row);
    },

    /** The credential of a public id with its owner as they are now, or undefined. */
    findCredential: async (id: string): Promise<KeyCredential | undefined> => {
      const row = reader.get<ApiKeyRow>('SELECT * FROM api_keys WHERE id = ?', id);
      if (row === undefined) return undefined;
      const owner = reader.get<UserRow>('SELECT * FROM users WHERE seq = ?', row.user_seq)!;
      return { key: toApiKey(row), user: toUser(owner), secretSha256: row.secret_sha256 };
    },

    /** What the key lets its agents use (§2.10). */
    capabilityConfigOf: async (seq: number): Promise<CapabilityConfig> => {
      const row = reader.get<{ config: string }>('SELECT capability_config AS config FROM api_keys WHERE seq = ?', seq);
      return { ...NO_CAPABILITIES, ...(JSON.parse(row?.config ?? '{}') as Partial<CapabilityConfig>) };
    },

    /** Every key, or those of one user. */
    list: async (userSeq: number | null): Promise<{ items: ApiKey[]; total: number }> => {
      const items = reader
        .all<ApiKeyRow>('SELECT * FROM api_keys WHERE user_seq = coalesce(?, user_seq) ORDER BY seq', userSeq)
        .map(toApiKey);
      return { items, total: items.length };
    },

    /** Revokes a key; a second time changes nothing. Throws `not_found`. */
    revoke: (id: string): Promise<ApiKey> =>
      write((tx) => {
        tx.run('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', tx.now, id);
        const row = tx.get<ApiKeyRow>('SELECT * FROM api_keys WHERE id = ?', id);
        if (row === undefined) throw notFound('API key');
        return toApiKey(row);
      }),

    /** Notes that a key was used. */
    touch: (seq: number, at: number): Promise<void> =>
      write((tx) => void tx.run('UPDATE api_keys SET last_used_at = ? WHERE seq = ?', at, seq)),
  };
}

/** Inserts a key. */
export function createKeyIn(tx: Transaction, key: NewApiKey): ApiKey {
  const seq = tx.insert(
    `INSERT INTO api_keys (id, user_seq, name, scope, secret_sha256, last_four, model, target, project_id,
       expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    key.id,
    key.userSeq,
    key.name,
    key.scope,
    key.secretSha256,
    key.lastFour,
    key.model,
    key.target,
    key.projectId,
    key.expiresAt,
    tx.now,
  );
  return toApiKey(tx.get<ApiKeyRow>('SELECT * FROM api_keys WHERE seq = ?', seq)!);
}
