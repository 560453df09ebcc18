// An import of users: the rows of a file as they should be, and what they would change.
import { ROLES } from '../../domain/people/user.ts';
import { array } from '../shapes/composites.ts';
import { called, record, request } from '../shapes/record.ts';
import { boolean, integer, line, oneOf, string, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, nullish, optional, orElse, type Shape } from '../shapes/shape.ts';
import { username } from './username.ts';

/** Rows of one import. */
export const MOST_IMPORTED = 1_000;

const label = line({ max: 200, min: 0 });
const name = line({ max: 200 });

/** A user as they should be. What is absent stays; null clears. */
export const wantedUser = named(
  'WantedUser',
  request({
    username,
    fullName: optional(label),
    department: optional(label),
    role: optional(oneOf(ROLES)),
    team: nullish(name),
    scenario: nullish(name),
  }),
);
export type WantedUserWire = JsonOf<typeof wantedUser>;

/** `key_name`: whether each user has a usable key of this name is told, too. */
export const userImport = named(
  'UserImport',
  request({ users: array(wantedUser, { max: MOST_IMPORTED }), keyName: orElse(nullable(name), null) }),
);

const FIELDS = ['full_name', 'department', 'role', 'team', 'scenario'] as const;

/** The names of fields, as requests have them. */
type Renamed<N extends string> = Exclude<N, 'full_name'> | 'fullName';
function fieldName<const N extends string>(names: readonly N[]): Shape<N, N, Renamed<N>> {
  return { ...oneOf(names), render: (field) => (field === 'fullName' ? 'full_name' : field) as N };
}

/** One for each row; `fields` are those that differ. */
const plannedUser = record({
  username: string,
  action: oneOf(['create', 'change', 'none']),
  userId: nullable(uuid),
  fields: array(fieldName(FIELDS)),
  isDisabled: called('disabled', boolean),
  hasKey: boolean,
});
export type PlannedUserWire = JsonOf<typeof plannedUser>;

/** `row` counts from 0. With problems, `users` may be shorter. */
export const importPlan = named(
  'UserImportPlan',
  record({
    users: array(plannedUser),
    problems: array(record({ row: integer({ from: 0 }), field: fieldName(['username', ...FIELDS]), message: string })),
  }),
);
