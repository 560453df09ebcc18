// What an import of users would change, and why some of its rows can't be: nothing is done.
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import type { Clock } from '../../domain/clock.ts';
import { accountOf } from '../../domain/people/account-name.ts';
import { type Administrator, ownerOf, type Role } from '../../domain/people/user.ts';
import type { Slices } from '../../domain/loop/slices.ts';
import type { Store } from '../../store/open-store.ts';
import type { UserRecord } from '../../store/people/users.ts';

/** A user as they should be: an absent field stays, null clears. `team` is a name or an id. */
export interface WantedUser {
  readonly username: string;
  readonly fullName?: string;
  readonly department?: string;
  readonly role?: Role;
  readonly team?: string | null;
  readonly scenario?: string | null;
}

const FIELDS = ['fullName', 'department', 'role', 'team', 'scenario'] as const;
type Field = (typeof FIELDS)[number];

/** What becomes of a row: the fields that differ, and whether the user has a usable key of the name that was asked for. */
export interface PlannedUser {
  readonly username: string;
  readonly action: 'create' | 'change' | 'none';
  readonly userId: string | null;
  readonly fields: readonly Field[];
  readonly isDisabled: boolean;
  readonly hasKey: boolean;
}

/** What an import should come to. `keyName`: the key that is asked about. */
export interface UserImport {
  readonly users: readonly WantedUser[];
  readonly keyName: string | null;
}

/** `row` counts from 0. */
export interface RowProblem {
  readonly row: number;
  readonly field: Field | 'username';
  readonly message: string;
}

export interface ImportPlan {
  /** One for each row without a problem before the first that has one; complete without problems. */
  readonly users: readonly PlannedUser[];
  readonly problems: readonly RowProblem[];
}

export interface PlanImportParts {
  readonly store: Pick<Store, 'users' | 'teams' | 'keys'>;
  readonly clock: Clock;
  readonly slices: Slices;
  catalog(): Catalog;
  readonly lookUp: LookUp;
}

/** Makes the verb. */
export function makePlanImport({ store, clock, slices, catalog, lookUp }: PlanImportParts) {
  return async (caller: Administrator, { users: wanted, keyName }: UserImport): Promise<ImportPlan> => {
    const pause = slices.of(ownerOf(caller));
    const teams = new Map(
      (await store.teams.list()).items.flatMap(({ id, name }) => [[id, name] as const, [name, name]]),
    );
    await lookUp(() => wanted.every(({ scenario }) => !isUnknown(scenario, catalog().scenarios)));
    const known = { teams, scenarios: catalog().scenarios };
    const rows = new Map<string, number>();
    const users: PlannedUser[] = [];
    const problems: RowProblem[] = [];
    for (const [row, one] of wanted.entries()) {
      const { found, lookAlike } = await store.users.findNamed(one.username);
      const twin = rows.get(accountOf(one.username));
      rows.set(accountOf(one.username), row);
      const wrong = problemsOf({ one, found, lookAlike, twin }, known);
      problems.push(...wrong.map((problem) => ({ row, ...problem })));
      if (problems.length === 0) {
        const hasKey =
          found !== undefined && keyName !== null && (await store.keys.hasUsable(found.seq, keyName, clock.now()));
        users.push(planOf(one, found, hasKey, teams));
      }
      await pause();
    }
    return { users, problems };
  };
}

interface Row {
  readonly one: WantedUser;
  readonly found: UserRecord | undefined;
  readonly lookAlike: string | undefined;
  readonly twin: number | undefined;
}

interface Known {
  readonly teams: ReadonlyMap<string, string>;
  readonly scenarios: ReadonlyMap<string, unknown>;
}

function problemsOf({ one, found, lookAlike, twin }: Row, { teams, scenarios }: Known): Omit<RowProblem, 'row'>[] {
  const all: readonly (readonly [RowProblem['field'], boolean, string])[] = [
    ['username', twin !== undefined, 'is in the file before, or looks like one that is'],
    ['username', lookAlike !== undefined, `looks like ${lookAlike}, who is there already`],
    [
      'role',
      found?.role === 'admin' && one.role === 'user',
      'would end an administrator; "errand users set" does that',
    ],
    ['team', isUnknown(one.team, teams), 'must be a team; "errand teams create" makes one'],
    [
      'scenario',
      isUnknown(one.scenario, scenarios),
      `must be a scenario of models.yaml (${[...scenarios.keys()].join(', ')})`,
    ],
  ];
  return all.filter(([, isWrong]) => isWrong).map(([field, , message]) => ({ field, message }));
}

const isUnknown = (name: string | null | undefined, known: { has(name: string): boolean }) =>
  typeof name === 'string' && !known.has(name);

function planOf(one: WantedUser, found: UserRecord | undefined, hasKey: boolean, teams: Known['teams']): PlannedUser {
  const { username } = one;
  if (found === undefined) return { username, action: 'create', userId: null, fields: [], isDisabled: false, hasKey };
  const wanted = { ...one, ...(typeof one.team === 'string' && { team: teams.get(one.team) }) };
  const now = { ...found, team: found.teamName };
  const fields = FIELDS.filter((field) => wanted[field] !== undefined && wanted[field] !== now[field]);
  const action = fields.length === 0 ? 'none' : 'change';
  return { username, action, userId: found.id, fields, isDisabled: found.disabled, hasKey };
}
