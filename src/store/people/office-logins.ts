// Rows of log-ins of browsers to Office Mode: hashes of codes that are good once, and of the cookies that they become (0054).
import { ErrandError } from '../../domain/errors.ts';
import {
  CODE_MS,
  type CodeRefusal,
  COOKIE_MS,
  KNOWN_MS,
  MOST_IN_ALL,
  MOST_OF_KEY,
} from '../../domain/people/office-login.ts';
import type { ApiKey, User } from '../../domain/people/user.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import { orNull, rowKind } from '../engine/row.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { API_KEY, USER } from '../rows.ts';

/** A code that nobody has used. `keySeq` null: of the operator behind the control socket. */
export interface NewOfficeLogin {
  readonly id: string;
  readonly keySeq: number | null;
  readonly codeSha256: Buffer;
}

/** `endsAt`: of the code. */
export interface OfficeLogin {
  readonly id: string;
  readonly endsAt: number;
}

/** By what a cookie was made: a key with its owner, as they are now; null: by the operator behind the control socket. */
export interface CookieHolder {
  readonly by: { readonly key: ApiKey; readonly user: User } | null;
}

const OWNER = rowKind<User>(USER.fields, 'owner_');
const KEY = rowKind<ApiKey>(API_KEY.fields, 'key_');
const HOLDER = rowKind<{ readonly key: ApiKey | null; readonly user: User | null }>({
  key: orNull(KEY, 'seq'),
  user: orNull(OWNER, 'seq'),
});

/** Every request of a browser reads one. */
const BY_COOKIE = `SELECT ${KEY.of('k')}, ${OWNER.of('u')} FROM office_logins login
  LEFT JOIN api_keys k ON k.seq = login.key_seq LEFT JOIN users u ON u.seq = k.user_seq
  WHERE login.cookie_sha256 = ? AND login.ends_at > database_now()`;

const OPEN = `SELECT count(*) AS total, count(CASE WHEN coalesce(key_seq, 0) = ? THEN 1 END) AS own
  FROM office_logins WHERE ends_at > database_now()`;

const USE = `UPDATE office_logins SET used_at = database_now(), cookie_sha256 = ?, ends_at = database_now() + ?
  WHERE code_sha256 = ? AND used_at IS NULL AND ends_at > database_now()`;

const ADD = `INSERT INTO office_logins (id, key_seq, code_sha256, created_at, ends_at)
  VALUES (?, ?, ?, database_now(), database_now() + ?)`;

const RETRY_SECONDS = CODE_MS / 1_000;

/** The verbs. Ends are compared by the database's clock, which is the same for all nodes (L3). */
export function makeOfficeLogins(database: Database) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /** Adds a code, and removes what ended a while ago. Throws `rate_limited` when too many haven't ended. */
    create: (login: NewOfficeLogin, note?: Note<OfficeLogin>): Promise<OfficeLogin> =>
      auditedWrite(note, function* (tx) {
        yield* tx.run('DELETE FROM office_logins WHERE ends_at <= database_now() - ?', KNOWN_MS);
        yield* requireRoom(tx, login.keySeq);
        yield* tx.insert(ADD, login.id, login.keySeq, login.codeSha256, CODE_MS);
        const sql = 'SELECT id, ends_at FROM office_logins WHERE id = ?';
        return (yield* tx.get<OfficeLogin>(sql, login.id))!;
      }),

    /** Makes a cookie of a code; null when it is done, otherwise why not. Of several at once, one gets it. */
    use: write(function* (tx: Transaction, codeSha256: Buffer, cookieSha256: Buffer): Step<CodeRefusal | null> {
      if ((yield* tx.count(USE, cookieSha256, COOKIE_MS, codeSha256)) > 0) return null;
      const sql = 'SELECT used_at FROM office_logins WHERE code_sha256 = ?';
      const found = yield* tx.get<{ readonly usedAt: number | null }>(sql, codeSha256);
      if (found === undefined) return 'unknown';
      return found.usedAt === null ? 'late' : 'used';
    }),

    /** Who holds a cookie; undefined when it has ended, or never was one. */
    find: read(function* (tx: Reader, cookieSha256: Buffer): Step<CookieHolder | undefined> {
      const found = yield* tx.rows(HOLDER).get(BY_COOKIE, cookieSha256);
      if (found === undefined) return undefined;
      const { key, user } = found;
      return { by: key !== null && user !== null ? { key, user } : null };
    }),

    /** Ends a cookie; one that has ended stays as it is. */
    end: write(function* (tx: Transaction, cookieSha256: Buffer): Step<void> {
      const sql = `UPDATE office_logins SET ends_at = database_now() WHERE cookie_sha256 = ? AND ends_at > database_now()`;
      yield* tx.run(sql, cookieSha256);
    }),

    /** Ends all that haven't, codes too. Returns how many. */
    endAll: (note?: Note<number>): Promise<number> =>
      auditedWrite(note, function* (tx) {
        return yield* tx.count('UPDATE office_logins SET ends_at = database_now() WHERE ends_at > database_now()');
      }),
  };
}

function* requireRoom(tx: Transaction, keySeq: number | null): Step<void> {
  const { total, own } = (yield* tx.get<{ total: number; own: number }>(OPEN, keySeq ?? 0))!;
  if (own < MOST_OF_KEY && total < MOST_IN_ALL) return;
  const whose =
    own < MOST_OF_KEY ? `There are ${MOST_IN_ALL} log-ins` : `This key has ${MOST_OF_KEY} log-ins of browsers`;
  throw new ErrandError('rate_limited', `${whose} to Office Mode. They end 8 hours after their link was opened.`, {
    details: { retryAfterSeconds: RETRY_SECONDS },
  });
}
