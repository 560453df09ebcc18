// An import of users: the rows of a file as they should be, and what they would change.
import { ROLES } from '../../domain/people/user.ts';
import { array, object } from '../composites.ts';
import { boolean, integer, line, oneOf, string, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, type Static } from '../shape.ts';
import { username } from './user.ts';

/** Rows of one import. */
export const MOST_IMPORTED = 1_000;

const label = line({ max: 200, min: 0 });
const name = line({ max: 200 });

/** A user as they should be. What is absent stays; null clears. */
export const wantedUser = named(
  'WantedUser',
  object({
    username,
    full_name: optional(label),
    department: optional(label),
    role: optional(oneOf(ROLES)),
    team: nullish(name),
    scenario: nullish(name),
  }),
);
export type WantedUserWire = Static<typeof wantedUser>;

/** `key_name`: whether each user has a usable key of this name is told, too. */
export const userImport = named(
  'UserImport',
  object({ users: array(wantedUser, { max: MOST_IMPORTED }), key_name: nullish(name) }),
);
export type UserImportWire = Static<typeof userImport>;

const FIELDS = ['full_name', 'department', 'role', 'team', 'scenario'] as const;

/** One for each row; `fields` are those that differ. */
const plannedUser = object({
  username: string,
  action: oneOf(['create', 'change', 'none']),
  user_id: nullable(uuid),
  fields: array(oneOf(FIELDS)),
  disabled: boolean,
  has_key: boolean,
});
export type PlannedUserWire = Static<typeof plannedUser>;

/** `row` counts from 0. With problems, `users` may be shorter. */
export const importPlan = named(
  'UserImportPlan',
  object({
    users: array(plannedUser),
    problems: array(object({ row: integer({ from: 0 }), field: oneOf(['username', ...FIELDS]), message: string })),
  }),
);
export type ImportPlanWire = Static<typeof importPlan>;
