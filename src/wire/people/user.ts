// Users: their records, and what may be said of them (B1).
import { MIN_PASSWORD_LENGTH, USERNAME } from '../../domain/people/names.ts';
import { ROLES } from '../../domain/people/user.ts';
import { object } from '../composites.ts';
import { boolean, integer, line, matching, oneOf, string, text, time, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, type Static } from '../shape.ts';

/** A person. `team` is the team's name. */
export const user = named(
  'User',
  object({
    user_id: uuid,
    username: string,
    full_name: string,
    department: string,
    role: oneOf(ROLES),
    team: nullable(string),
    functional_role: nullable(string),
    scenario: nullable(string),
    disabled: boolean,
    /** Of the workspaces of all their sessions, as of the ends of their runs. */
    workspace_bytes: integer(),
    created_at: time,
    updated_at: time,
    /** Only in the answer to its creation, when the daemon made it. */
    password: optional(string),
  }),
);
export type UserWire = Static<typeof user>;

/** A name that a user may have. */
export const username = matching(USERNAME, 'must be 1 to 64 letters, digits, dots, dashes, underscores or @');
const name = line({ max: 200 });
const label = line({ max: 200, min: 0 });
const secret = text({ min: MIN_PASSWORD_LENGTH, max: 1_000 });

/** Without a password the daemon makes one. */
export const newUser = named(
  'NewUser',
  object({
    username,
    full_name: nullish(label),
    department: nullish(label),
    role: nullish(oneOf(ROLES)),
    team: nullish(name),
    scenario: nullish(name),
    password: nullish(secret),
  }),
);
export type NewUserWire = Static<typeof newUser>;

/** What is absent stays; null clears. */
export const userChange = named(
  'UserChange',
  object(
    {
      full_name: optional(label),
      department: optional(label),
      role: optional(oneOf(ROLES)),
      team: nullish(name),
      scenario: nullish(name),
      disabled: optional(boolean),
    },
    { atLeastOne: true },
  ),
);
export type UserChangeWire = Static<typeof userChange>;

/** Without a password the daemon makes one. */
export const newPassword = named('NewPassword', object({ password: nullish(secret) }));
export type NewPasswordWire = Static<typeof newPassword>;

/** Whose password was set. `password` is there only when the daemon made it. */
export const passwordOfUser = named(
  'Password',
  object({ user_id: uuid, username: string, password: optional(string) }),
);
export type PasswordWire = Static<typeof passwordOfUser>;
