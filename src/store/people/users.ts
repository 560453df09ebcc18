// Rows of users.
import { accountOf } from '../../domain/people/account-name.ts';
import { ErrandError, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { User } from '../../domain/people/user.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { plain, rowKind } from '../engine/row.ts';
import { USER } from '../rows.ts';
import type { Planning } from '../webhooks/planning.ts';

export type NewUser = Pick<
  User,
  'username' | 'fullName' | 'department' | 'role' | 'teamId' | 'functionalRole' | 'scenario'
> & { readonly passwordHash: string };

export type UserChanges = Partial<
  Pick<User, 'fullName' | 'department' | 'role' | 'teamId' | 'functionalRole' | 'scenario' | 'disabled'> & {
    readonly passwordHash: string;
  }
>;

/** A user with the name of their team, and what the workspaces of their sessions take. */
export interface UserRecord extends User {
  readonly teamName: string | null;
  readonly workspaceBytes: number;
}

/** Who has a name. */
export interface NamedUser {
  readonly found: UserRecord | undefined;
  readonly lookAlike: string | undefined;
}

const RECORD = rowKind<UserRecord>({ ...USER.fields, teamName: plain, workspaceBytes: plain });

const WITH_TEAM = 'SELECT u.*, t.name AS team_name FROM users u LEFT JOIN teams t ON t.id = u.team_id';
const BY_ID = `${WITH_TEAM} WHERE u.id = ?`;
const BY_NAME = `${WITH_TEAM} WHERE u.username = ?`;

/** What a login with a password is checked against. */
interface Login extends TokenHolder {
  readonly passwordHash: string;
}

/** The user of a login token, and how many passwords they have had before: a token from another password is invalid. */
export interface TokenHolder {
  readonly user: User;
  readonly tokenGeneration: number;
}

const TOKEN_HOLDER = rowKind<TokenHolder>({ user: USER, tokenGeneration: plain });
const LOGIN = rowKind<Login>({ ...TOKEN_HOLDER.fields, passwordHash: plain });

const COLUMNS = {
  fullName: 'full_name',
  department: 'department',
  role: 'role',
  teamId: 'team_id',
  functionalRole: 'functional_role',
  scenario: 'scenario',
  disabled: 'disabled',
  passwordHash: 'password_hash',
} as const satisfies Record<keyof UserChanges, string>;

/** The verbs on users. A `reference` is an id or else a username: an id of one may be the name of another. */
export function makeUsers(database: Database, planning: Pick<Planning, 'planThen'>) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /** Throws `conflict` when the username is taken. */
    create: (user: NewUser, note?: Note<UserRecord>): Promise<UserRecord> =>
      auditedWrite(note, function* (tx) {
        return yield* recordIn(tx, (yield* createUserIn(tx, user)).seq);
      }),

    /** Throws `not_found`. */
    get: read(getIn),

    /** By the id alone: a username may look like one. */
    findTokenHolder: read(function* (tx: Reader, id: string): Step<TokenHolder | undefined> {
      return yield* tx.rows(TOKEN_HOLDER).get('SELECT * FROM users WHERE id = ?', id);
    }),

    /** By the username alone, in any spelling, with the hash of the password. */
    findLogin: read(findByName),

    /** The user of exactly this username, or else the name that looks like it and keeps it from being taken. */
    findNamed: read(function* (tx: Reader, username: string): Step<NamedUser> {
      const found = yield* tx.rows(RECORD).get(BY_NAME, username);
      if (found !== undefined) return { found, lookAlike: undefined };
      return { found: undefined, lookAlike: (yield* findTaken(tx, username))?.username };
    }),

    /** The existing user of this username, or a new one made from the other fields. Throws as `create` does. */
    ensure: write(function* (tx: Transaction, user: NewUser): Step<User> {
      const login = yield* findByName(tx, user.username);
      return login === undefined ? yield* createUserIn(tx, user) : login.user;
    }),

    /** Old accounts whose names look alike, each found by its exact username only. */
    listLookAlikes: read(function* (tx: Reader): Step<string[]> {
      return (yield* tx.all<{ username: string }>(
        'SELECT username FROM users WHERE exact_only = 1 ORDER BY account, username',
      )).map(({ username }) => username);
    }),

    /** Up to `limit` users whose names come after one, in the order of their names. */
    list: read(function* (tx: Reader, after: string, limit: number): Step<UserRecord[]> {
      const sql = `${WITH_TEAM} WHERE u.username > ? ORDER BY u.username LIMIT ?`;
      return yield* tx.rows(RECORD).all(sql, after, limit);
    }),

    count: read(function* (tx: Reader): Step<number> {
      return (yield* tx.get<{ count: number }>('SELECT count(*) AS count FROM users'))!.count;
    }),

    /**
     * Throws `not_found`, and `conflict` when it would leave no enabled administrator. The webhooks of a user who is disabled still get
     * the events before that (H16).
     */
    change: (reference: string, changes: UserChanges, note?: Note<UserRecord>): Promise<UserRecord> => {
      const change = (tx: Transaction) => changeIn(tx, reference, changes);
      return changes.disabled === undefined ? auditedWrite(note, change) : planning.planThen(note, change);
    },
  };
}

function* changeIn(tx: Transaction, reference: string, changes: UserChanges): Step<UserRecord> {
  const before = yield* getIn(tx, reference);
  for (const [name, value] of Object.entries(changes)) {
    const column = COLUMNS[name as keyof UserChanges];
    const stored = typeof value === 'boolean' ? Number(value) : value;
    yield* tx.run(`UPDATE users SET ${column} = ?, updated_at = ? WHERE seq = ?`, stored, tx.now, before.seq);
  }
  // Whoever knew the old password must not continue with a token obtained with it.
  if (changes.passwordHash !== undefined) {
    yield* tx.run('UPDATE users SET token_generation = token_generation + 1 WHERE seq = ?', before.seq);
  }
  const wasAdmin = before.role === 'admin' && !before.disabled;
  const remaining = yield* tx.get("SELECT 1 FROM users WHERE role = 'admin' AND disabled = 0 LIMIT 1");
  if (wasAdmin && remaining === undefined) {
    throw new ErrandError('conflict', `${before.username} is the last enabled administrator.`);
  }
  return yield* recordIn(tx, before.seq);
}

function* getIn(tx: Reader, reference: string): Step<UserRecord> {
  const rows = tx.rows(RECORD);
  const user = (yield* rows.get(BY_ID, reference)) ?? (yield* rows.get(BY_NAME, reference));
  if (user === undefined) throw notFound('User');
  return user;
}

/** By the number alone: a username may look like the id of another user. */
function* recordIn(tx: Reader, seq: number): Step<UserRecord> {
  return (yield* tx.rows(RECORD).get(`${WITH_TEAM} WHERE u.seq = ?`, seq))!;
}

const BY_ACCOUNT = 'SELECT * FROM users WHERE account = ? AND exact_only';

/** The user whose name this is exactly; else the one user whose name looks like it. */
function* findByName(tx: Reader, username: string): Step<Login | undefined> {
  const rows = tx.rows(LOGIN);
  return (
    (yield* rows.get('SELECT * FROM users WHERE username = ?', username)) ??
    (yield* rows.get(`${BY_ACCOUNT} = 0`, accountOf(username)))
  );
}

/** The user whose name is this, or looks like it. */
function* findTaken(tx: Reader, username: string): Step<User | undefined> {
  const account = accountOf(username);
  const rows = tx.rows(LOGIN);
  return ((yield* rows.get(`${BY_ACCOUNT} = 0`, account)) ?? (yield* rows.get(`${BY_ACCOUNT} = 1`, account)))?.user;
}

/** Inserts a user. Throws `conflict` when the username is taken, or looks like one that is taken. */
export function* createUserIn(tx: Transaction, user: NewUser): Step<User> {
  const account = accountOf(user.username);
  const taken = yield* findTaken(tx, user.username);
  if (taken !== undefined) {
    const which = taken.username === user.username ? '' : `: it looks like ${taken.username}`;
    throw new ErrandError('conflict', `The username ${user.username} is taken${which}.`);
  }
  const seq = yield* tx.insert(
    `INSERT INTO users (id, username, account, full_name, department, role, team_id, functional_role, scenario,
       password_hash, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    newId(tx.now),
    user.username,
    account,
    user.fullName,
    user.department,
    user.role,
    user.teamId,
    user.functionalRole,
    user.scenario,
    user.passwordHash,
    tx.now,
    tx.now,
  );
  return (yield* tx.rows(USER).get('SELECT * FROM users WHERE seq = ?', seq))!;
}
