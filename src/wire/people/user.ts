// Users: their records, and what may be said of them (B1).
import { MIN_PASSWORD_LENGTH } from '../../domain/people/names.ts';
import { ROLES } from '../../domain/people/user.ts';
import { endpoints, pathText } from '../endpoint.ts';
import { listOf } from '../listing.ts';
import { called, record, request } from '../shapes/record.ts';
import { boolean, integer, line, oneOf, string, text, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, nullish, optional, orElse, refersTo } from '../shapes/shape.ts';
import { holdings, leaveProgress, leaveRequest } from './leaving.ts';
import { importPlan, userImport } from './user-import.ts';
import { username } from './username.ts';

/** A person. `team` is the team's name. */
export const user = named(
  'User',
  record({
    id: called('user_id', uuid),
    username: string,
    fullName: string,
    department: string,
    role: oneOf(ROLES),
    teamName: called('team', nullable(string)),
    functionalRole: nullable(string),
    scenario: nullable(string),
    disabled: boolean,
    /** Of the workspaces of all their sessions, as of the ends of their runs. */
    workspaceBytes: integer(),
    createdAt: time,
    updatedAt: time,
    /** Only in the answer to its creation, when the daemon made it. */
    password: optional(string),
  }),
);
export type UserWire = JsonOf<typeof user>;

const name = line({ max: 200 });
const team = refersTo('teams', name);
const label = line({ max: 200, min: 0 });
const secret = text({ min: MIN_PASSWORD_LENGTH, max: 1_000 });

/** Without a password the daemon makes one. */
const newUser = named(
  'NewUser',
  request({
    username,
    fullName: orElse(nullable(label), null),
    department: orElse(nullable(label), null),
    role: orElse(nullable(oneOf(ROLES)), null),
    team: orElse(nullable(team), null),
    scenario: orElse(nullable(name), null),
    password: orElse(nullable(secret), null),
  }),
);

/** What is absent stays; null clears. */
const userChange = named(
  'UserChange',
  request(
    {
      fullName: optional(label),
      department: optional(label),
      role: optional(oneOf(ROLES)),
      team: nullish(team),
      scenario: nullish(name),
      disabled: optional(boolean),
    },
    { atLeastOne: true },
  ),
);
export type UserChangeWire = JsonOf<typeof userChange>;

/** Without a password the daemon makes one. */
const newPassword = named('NewPassword', request({ password: orElse(nullable(secret), null) }));

/** Whose password was set. `password` is there only when the daemon made it. */
const passwordOfUser = named(
  'Password',
  record({ id: called('user_id', uuid), username: string, password: optional(string) }),
);
export type PasswordWire = JsonOf<typeof passwordOfUser>;

const one = { params: { ref: refersTo('users', pathText) }, reply: user };

/** Users, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const users = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/users', summary: 'List users', operation: 'listUsers', reply: listOf(user) },
  create: { route: 'POST /api/v1/users', summary: 'Create a user', operation: 'createUser', body: newUser, reply: user, statuses: [201] },
  planImport: { route: 'POST /api/v1/users/plan-import', summary: 'Say what an import of users would change; nothing is done', operation: 'planImport', body: userImport, reply: importPlan },
  get: { route: 'GET /api/v1/users/:ref', summary: 'Read a user', operation: 'getUser', ...one },
  change: { route: 'PATCH /api/v1/users/:ref', summary: 'Change a user', operation: 'changeUser', ...one, body: userChange },
  setPassword: { route: 'PUT /api/v1/users/:ref/password', summary: 'Set the password of a user', operation: 'setPassword', ...one, body: newPassword, bodyIsOptional: true, reply: passwordOfUser },
  holdings: { route: 'GET /api/v1/users/:ref/holdings', summary: 'Say what a user has', operation: 'getHoldings', ...one, reply: holdings },
  leave: { route: 'POST /api/v1/users/:ref/leave', summary: 'Disable a user and settle some of what they have', operation: 'leaveUser', ...one, body: leaveRequest, reply: leaveProgress },
});
