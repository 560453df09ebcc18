// The first administrator and their key, created together or not at all.
import type { ApiKey, User } from '../../domain/people/user.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { createKeyIn, type NewApiKey } from './keys.ts';
import { createUserIn, type NewUser } from './users.ts';

/** The verb: the new user and key, or null when there are users already. */
export function makeCreateFirstAdministrator({ write }: Database) {
  return write(function* (
    tx: Transaction,
    user: NewUser,
    key: Omit<NewApiKey, 'userSeq'>,
  ): Step<{ user: User; key: ApiKey } | null> {
    if ((yield* tx.get('SELECT 1 FROM users LIMIT 1')) !== undefined) return null;
    const created = yield* createUserIn(tx, user);
    return { user: created, key: yield* createKeyIn(tx, { ...key, userSeq: created.seq }) };
  });
}
